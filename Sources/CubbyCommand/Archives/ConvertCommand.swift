import Application
import ArgumentParser
import KeyedArchive
import PropertyList
import Wording

/// `cubby convert IN OUT`
struct ConvertCommand: ParsableCommand {
    /// The formats of property lists.
    enum Form: String, ExpressibleByArgument, CaseIterable {
        case binary, xml, json
    }

    static let configuration = CommandConfiguration(
        commandName: "convert",
        abstract: "Write a property list or keyed archive in another form: binary, XML or JSON.",
        discussion: """
            The form of OUT is told by --format, or by its extension: .json; .xml; binary for .plist, .bplist, .archive,
            .bin and a name without extension.
            Nothing is lost on the way, but for the width of reals in XML; what a form cannot hold is refused.
            """)

    @Option(help: "binary, xml or json.")
    var format: Form?

    @Argument(help: "The file to read, in any of the three forms; - is standard input.", completion: .file())
    var input: String

    @Argument(help: "The file to write; - is standard output.", completion: .file())
    var output: String

    func validate() throws {
        guard format == nil else { return }
        if output == "-" { throw ValidationError("Standard output has no extension: say --format.") }
        guard extensionForm == nil else { return }
        let advice =
            ["csv", "tsv", "jsonl", "sqlite"].contains(fileExtension)
            ? " For items: import the archive, and use items:export." : ""
        throw ValidationError(
            "A property list is not written as .\(fileExtension): the extensions are .json, .xml, .plist, .bplist, "
                + ".archive and .bin; --format binary, xml or json goes with any other.\(advice)")
    }

    func run() throws {
        SignalMask.restore()
        let reader = try ArchiveFiles.propertyList(input, acceptingJSON: true).reader
        let bytes: [UInt8]
        let notation: VisibleText.Notation?
        do throws(PropertyListError) {
            switch format ?? extensionForm ?? .binary {
            case .binary: (bytes, notation) = (try reader.binary(), nil)
            case .xml: (bytes, notation) = (try reader.xml(), .xml)
            case .json: (bytes, notation) = (try reader.json(), .json)
            }
        } catch {
            throw CommandFailure.exit(.badData, "\(ArchiveFiles.name(input)): \(error)")
        }
        try ArchiveFiles.write(bytes, to: output, as: notation)
    }

    /// The format of the extension; nil for other extensions.
    private var extensionForm: Form? {
        switch fileExtension {
        case "json": .json
        case "xml": .xml
        case "plist", "bplist", "archive", "bin", "": .binary
        default: nil
        }
    }

    /// The file's extension in lower case; empty without one.
    private var fileExtension: String {
        let name = output.split(separator: "/").last ?? ""
        guard let point = name.lastIndex(of: "."), point != name.startIndex else { return "" }
        return name[name.index(after: point)...].lowercased()
    }
}
