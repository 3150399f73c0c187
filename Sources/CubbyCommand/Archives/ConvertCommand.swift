import Application
import ArgumentParser
import KeyedArchive
import PropertyList

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
        do throws(PropertyListError) {
            switch format ?? extensionForm {
            case .binary: bytes = try reader.binary()
            case .xml: bytes = try reader.xml()
            case .json: bytes = try reader.json()
            }
        } catch {
            throw ArchiveFiles.failure(ArchiveFiles.badData, "\(ArchiveFiles.name(input)): \(error)")
        }
        try ArchiveFiles.write(bytes, to: output)
    }

    /// The form that the extension tells.
    private var extensionForm: Form {
        let lowered = output.lowercased()
        return lowered.hasSuffix(".json") ? .json : lowered.hasSuffix(".xml") ? .xml : .binary
    }
}
