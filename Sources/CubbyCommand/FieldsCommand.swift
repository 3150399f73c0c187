import Application
import ArgumentParser
import Files
import Images
import Items
import Lua
import Scripting
import SharedItems

/// `cubby fields [FILE]`: what is declared of the items' fields.
struct FieldsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fields",
        abstract: "Show the items' fields, or declare those of a file first.",
        discussion: """
            The file is Lua, and returns the table of items:declare: return { price = "real" }. It is declared as a
            whole: if items do not fit, nothing is changed, and their number and the first three are the error.
            With --only, in a container that never had items, its items have no other fields by themselves: not the \
            name, serialNumber, valueInDollars and dateCreated of a household. The first field that is a string names \
            an item; an array of tables keeps its order: return { { name = "title", kind = "string" }, … }.
            """)

    @OptionGroup var host: HostOptions

    @Flag(help: "Convert values of items that do not fit, such as texts that are numbers: all, or none.")
    var convert = false

    @Flag(help: "In a container that never had items: they have the fields of the file, and none of a household's.")
    var only = false

    @Argument(help: ArgumentHelp("A file with declarations.", valueName: "file"), completion: .file())
    var file: String?

    func validate() throws {
        if convert, file == nil { throw ValidationError("--convert needs a file with declarations.") }
        if only, file == nil { throw ValidationError("--only needs a file with declarations.") }
    }

    func run() throws {
        var host = host
        // Somebody else's container may be read: its script is not run for that.
        host.noInit = true
        let path = try file.map(ItemFileArgument.absolute)
        var begun: ApplicationContainer?
        if only {
            if host.sharedAddress != nil {
                throw CommandFailure.exit(
                    .usage,
                    "--only is for a container's own items: which fields those of a shared collection have is determined when "
                        + "it is made, by cubby shared init --own-fields; cubby fields FILE declares more")
            }
            let container = try ContainerArgument.locate(
                host.container, orSay: "keeps its items in the memory of its process: --only needs a folder")
            if OwnFields.schema(of: container) == .household {
                try OwnFields.begin(OpenedContainer(naming: container))
                begun = container
            }
        }
        // Naming the file is consent to read it.
        if let path { host.allowRead.append(path) }
        let work = HostWork(Self.chunk, name: "cubby fields", status: ExitStatus.ofExchange) { results, _ in
            for line in (results.first?.textValue ?? "").split(separator: "\n", omittingEmptySubsequences: false) {
                Report.line(String(line))
            }
        }
        do {
            try ScriptSession(host, source: .work(work), arguments: [path ?? "", convert ? "convert" : ""]).run()
        } catch {
            // A file that cannot be read, or declares nothing, leaves the container as it was.
            if let begun, (error as? ExitCode)?.rawValue != ExitStatus.done.rawValue { try OwnFields.takeBack(begun) }
            throw error
        }
    }

    /// The chunk, as a script would write it.
    private static let chunk = """
        local path, convert = ...
        if path ~= "" then
            local text = assert(fs.read(path))
            local declare = assert(load(text, "@" .. path:match("[^/]*$"), "t", { date = date, data = data }))
            local fields = declare()
            assert(type(fields) == "table", path .. " returns no table of fields: return { price = \\"real\\" }")
            assert(items:declare(fields, { convert = convert == "convert" }))
        end
        return tostring(items:fields())
        """
}

/// Containers whose items have no fields but their key and declared ones.
enum OwnFields {
    /// The fields that a container's items have by themselves. A format that cannot be read is reported when the
    /// container is opened.
    static func schema(of container: ApplicationContainer) -> ItemSchema {
        (try? ItemSchema(of: container)) ?? .household
    }

    /// The fields of the items of a host: those of its container, or of the shared collection, as far as its server says.
    static func schema(of host: HostOptions) throws -> ItemSchema {
        guard let url = host.sharedAddress else { return schema(of: try ContainerArgument.locate(host.container)) }
        return try SharedSchema.items(of: SharedArgument.address(url)) ?? .household
    }

    /// Makes a container one with declared fields alone.
    ///
    /// - Throws: the exit status, for one that has items, or had some: its files have fields of a household.
    static func begin(_ opened: OpenedContainer) throws {
        let container = opened.container
        if let name = itemFile(of: opened) {
            throw CommandFailure.exit(
                .usage,
                "\(container.displayPath) has \(name), with the fields of a household: --only is for a new container, such as "
                    + "cubby fields --container books --only FILE")
        }
        do throws(FileError) { try ContainerFormat.setOwnFields(container) } catch { throw CommandFailure.exit(error) }
    }

    /// Makes a container that has got no declared fields one with those of a household again.
    static func takeBack(_ container: ApplicationContainer) throws {
        let opened = try OpenedContainer(naming: container)
        guard itemFile(of: opened) == nil else { return }
        do throws(FileError) { try ContainerFormat.unsetOwnFields(container) } catch {
            throw CommandFailure.exit(error)
        }
    }

    /// The name of the file by which a container shows that it has, or had, items or declared fields.
    private static func itemFile(of opened: OpenedContainer) -> String? {
        ["items.archive", "items.journal"].first {
            opened.files.exists(PathText.join(opened.container.documents, $0))
        }
    }
}

extension OpenedContainer {
    /// Opens a container that a command names.
    ///
    /// - Throws: the exit status.
    init(naming container: ApplicationContainer) throws {
        do { try self.init(container) } catch let error as FolderLockError {
            throw CommandFailure.exit(error)
        } catch let error as ContainerFormatError {
            throw CommandFailure.exit(.badData, error.description)
        } catch let error as FileError {
            throw CommandFailure.exit(error)
        }
    }
}
