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
        abstract: "Convert a property list or a keyed archive to another format: binary, XML or JSON.",
        discussion: """
            The format of OUT follows from --format, or from its extension: .json; .xml; binary for .plist, .bplist, \
            .archive, .bin and a name without an extension.
            The conversion is lossless, except for the width of reals in XML. Values that the format cannot hold are \
            refused.
            """)

    @Option(help: "The format of OUT: binary, xml or json.")
    var format: Form?

    @Argument(help: "The file to read, in any of the three formats; - is standard input.", completion: .file())
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
            case .xml:
                let (xml, loss) = try reader.xmlSayingLoss()
                (bytes, notation) = (xml, .xml)
                if let loss { CommandFailure.say(loss) }
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
