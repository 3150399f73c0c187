import Application
import ArgumentParser
import KeyedArchive
import PropertyList
import Wording

/// `cubby convert IN OUT`
struct ConvertCommand: ParsableCommand {
    /// The forms that a property list is written in.
    enum Form: String, ExpressibleByArgument, CaseIterable {
        case binary, xml, json
    }

    static let configuration = CommandConfiguration(
        commandName: "convert",
        abstract: "Write a property list or keyed archive in another form: binary, XML or JSON.",
        discussion: """
            The form of OUT is told by --format, or by its extension: .json, .xml, and binary for all others.
            Nothing is lost on the way, but for the width of reals in XML; what a form cannot hold is refused.
            """)

    @Option(help: "binary, xml or json.")
    var format: Form?

    @Argument(help: "The file to read, in any of the three forms; - is standard input.")
    var input: String

    @Argument(help: "The file to write; - is standard output.")
    var output: String

    func validate() throws {
        if output == "-", format == nil { throw ValidationError("Standard output has no extension: say --format.") }
    }

    func run() throws {
        SignalMask.restore()
        let reader = try ArchiveFiles.propertyList(input, acceptingJSON: true).reader
        let bytes: [UInt8]
        let notation: VisibleText.Notation?
        do throws(PropertyListError) {
            switch format ?? extensionForm {
            case .binary: (bytes, notation) = (try reader.binary(), nil)
            case .xml: (bytes, notation) = (try reader.xml(), .xml)
            case .json: (bytes, notation) = (try reader.json(), .json)
            }
        } catch {
            throw ArchiveFiles.failure(ArchiveFiles.badData, "\(ArchiveFiles.name(input)): \(error)")
        }
        try ArchiveFiles.write(bytes, to: output, as: notation)
    }

    /// The form that the extension tells.
    private var extensionForm: Form {
        let lowered = output.lowercased()
        return lowered.hasSuffix(".json") ? .json : lowered.hasSuffix(".xml") ? .xml : .binary
    }
}
