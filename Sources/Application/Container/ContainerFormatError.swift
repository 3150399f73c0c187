import Wording

/// A container of a format that this program does not know.
package struct ContainerFormatError: Error, CustomStringConvertible {
    let container: String
    /// The format, as the container has it.
    let format: String

    package var description: String {
        "\(container) is of the container format \(VisibleText.line(format)), and this program knows up to "
            + "\(ContainerFormat.current): a newer cubby wrote it, and opens it; --read-only shows what this one can read of it"
    }
}
