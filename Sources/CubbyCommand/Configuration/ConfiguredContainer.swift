import Application
import ArgumentParser
import Files
import Glibc
import Wording

/// A container's configuration for a run: read, and approved.
struct ConfiguredContainer {
    let container: Container
    let file: ConfigurationFile?
    private(set) var configuration: Configuration?
    private var grants: [Grant] = []

    /// Reads the configuration, approved or not.
    ///
    /// - Throws: the exit status, if it cannot be read or other users could have written it.
    init(reading container: Container) throws {
        self.container = container
        guard !container.isTemporary, let folder = ConfigurationFolder.locate() else {
            file = nil
            return
        }
        do throws(ConfigurationError) {
            let file = try ConfigurationFile(for: container, in: folder)
            configuration = try file.read()
            self.file = file
        } catch .inContainer where !PosixFileLayer().exists(folder) {
            file = nil
        } catch {
            throw CommandFailure.exit(error, container)
        }
    }

    /// Reads the configuration for a run.
    ///
    /// - Parameters:
    ///   - container: the container.
    ///   - asks: whether a user at a terminal may approve changes; otherwise they are refused.
    /// - Throws: the exit status.
    init(_ container: Container, asks: Bool) throws {
        try self.init(reading: container)
        guard let file, let configuration else { return }
        let changed = configuration.unapproved(for: file.identity)
        if !changed.isEmpty {
            let error = ConfigurationError.changed(path: file.path, parts: changed)
            guard asks, file.identity != nil, Self.askApproval(error.message) else {
                throw CommandFailure.exit(error, container)
            }
            do throws(ConfigurationError) { try file.update(approvesAll: true) { _ in } } catch {
                throw CommandFailure.exit(error, container)
            }
        }
        for grant in configuration.grants where grant.kind != .run {
            switch grant.state {
            case .asApproved: grants.append(grant)
            case .gone: CommandFailure.say("the granted \(VisibleText.line(grant.path)) is not there")
            case .changed:
                let message =
                    "the granted \(grant.path) leads by a link to another place now: cubby config revoke \(grant.kind) and grant it anew"
                guard asks else { throw CommandFailure.exit(.usage, message) }
                CommandFailure.say(VisibleText.line(message))
            }
        }
    }

    /// The approved paths that exist.
    func paths(_ kind: Grant.Kind) -> [String] { grants.filter { $0.kind == kind }.map(\.path) }

    var settings: [String: String] { configuration?.settings ?? [:] }

    var programs: [ProgramGrant] { configuration?.grants.compactMap(\.program) ?? [] }

    /// Stores the approval of a changed program; nil without a configuration.
    var approve: (@Sendable (ProgramGrant) throws -> Void)? {
        guard let folder = ConfigurationFolder.locate(), file != nil else { return nil }
        let container = container
        return { program in
            try ConfigurationFile(for: container, in: folder).update { $0.add(Grant(program)) }
        }
    }

    /// Repeats the question until it is answered; the end of input means no.
    private static func askApproval(_ message: String) -> Bool {
        CommandFailure.say(VisibleText.line(message))
        while true {
            StandardErrorLogHandler.writeToStandardError("Approve it? [y]es, [n]o: ")
            switch readLine()?.lowercased() {
            case "y", "yes": return true
            case "n", "no", nil: return false
            default: continue
            }
        }
    }
}
