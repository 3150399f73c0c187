import Application
import ArgumentParser
import Files
import Wording

/// The arguments of `grant` and `revoke`: a kind, and a path or a program.
enum GrantArgument {
    static let kinds = Grant.Kind.allCases.map(\.rawValue)

    static func check(_ kind: String, among kinds: [String]) throws {
        guard !kinds.contains(kind) else { return }
        throw ValidationError(
            "There is no grant '\(kind)'\(NearestNames.hint(for: kind, among: kinds)); "
                + "it is one of \(kinds.joined(separator: ", ")).")
    }
}

/// `cubby config grant read|write PATH`, `cubby config grant run PROGRAM`.
struct ConfigGrantCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "grant",
        abstract: "Allow the container's scripts to read a file or folder, write a folder, or run a program by name.")

    @OptionGroup var target: ConfigTarget

    @Argument(help: "read, write or run.", completion: .list(GrantArgument.kinds))
    var kind: String

    @Argument(help: "A path, or a program: its name in PATH, or its path.", completion: .file())
    var subject: String

    func validate() throws { try GrantArgument.check(kind, among: GrantArgument.kinds) }

    func run() throws {
        let grant: Grant
        do throws(FileError) { grant = try makeGrant() } catch { throw CommandFailure.exit(error) }
        let file = try target.file()
        try target.update(file) { $0.add(grant) }
        Report.line("granted \(grant.title)\(grant.kind == .run ? ", SHA-256 \(grant.digest)" : "")")
        if let program = grant.program, program.startsOthers {
            Report.line("\(grant.name) can start any other program: this grants as much as --allow-run")
        }
    }

    private func makeGrant() throws(FileError) -> Grant {
        guard let kind = Grant.Kind(rawValue: kind), kind != .run else { return Grant(try ProgramGrant(subject)) }
        return try Grant(kind, of: subject)
    }
}

/// `cubby config revoke read|write PATH`, `run PROGRAM`, `all`.
struct ConfigRevokeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "revoke", abstract: "Revoke a grant, or all grants.")

    @OptionGroup var target: ConfigTarget

    @Argument(help: "read, write, run or all.", completion: .list(GrantArgument.kinds + ["all"]))
    var kind: String

    @Argument(help: "The path, or the program's name.", completion: .file())
    var subject: String?

    func validate() throws {
        try GrantArgument.check(kind, among: GrantArgument.kinds + ["all"])
        guard (kind == "all") == (subject == nil) else {
            throw ValidationError(
                kind == "all"
                    ? "revoke all takes no path: it takes every grant back." : "revoke \(kind) takes what was granted.")
        }
    }

    func run() throws {
        let file = try target.file()
        let subject = subject ?? ""
        let path = PathText.absolute(subject, from: WorkingDirectory.path ?? "/")
        let names = [subject, path, RealPath.ofExistingPart(of: path)]
        let revoked = try target.update(file) { configuration in
            configuration.revoke { grant in
                kind == "all" || (grant.kind.rawValue == kind && (names.contains(grant.path) || grant.name == subject))
            }
        }
        for grant in revoked { Report.line("revoked \(grant.title)") }
        if revoked.isEmpty, kind != "all" {
            throw CommandFailure.exit(.usage, "there is no grant to \(kind) \(subject); cubby config lists them")
        }
    }
}
