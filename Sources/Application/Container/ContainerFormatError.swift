import Wording

/// A container of a format unknown to this program.
package struct ContainerFormatError: Error, CustomStringConvertible {
    let container: String
    /// The format as stated in the container.
    let format: String

    package var description: String {
        "\(container) is of the container format \(VisibleText.line(format)), and this program knows up to "
            + "\(ContainerFormat.current): a newer cubby wrote it, and opens it; --read-only shows what this one can read of it"
            + (ContainerFormat.isNumber(format)
                ? "" : ". That is not a number: cubby check --repair moves the file aside")
    }
}
