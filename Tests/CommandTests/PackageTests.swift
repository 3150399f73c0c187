import Foundation
import TestSupport
import Testing

/// What `scripts/package` and `scripts/install` put together, of the program that is built. `scripts/package --check` tries the
/// packages in systems of their own.
@Suite("Packages", .enabled(if: Program.isBuilt, "\(Project.cubbyIsAbsent)"), .serialized)
struct PackageTests {
    let program: Program

    init() throws { program = try Program() }

    private func script(_ name: String, _ arguments: [String]) throws -> ProcessOutput {
        var environment = ProcessInfo.processInfo.environment
        environment["CUBBY_XZ"] = "-0"
        let output = try run("\(Project.root)/scripts/\(name)", arguments, environment: environment, timeout: 600)
        try #require(output.status == .exited(0), "\(output.stderr)")
        return output
    }

    /// The paths of the files beneath a folder.
    private func files(_ folder: String) throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: folder).filter { path in
            var isFolder: ObjCBool = false
            return FileManager.default.fileExists(atPath: "\(folder)/\(path)", isDirectory: &isFolder)
                && !isFolder.boolValue
        }.sorted()
    }

    /// Unpacks the archive that is made of the program; returns its only folder.
    private func unpack(_ name: String) throws -> (folder: String, archive: Data) {
        let packages = program.scratch.file(name)
        _ = try script("package", ["--program", program.path, "--tarball", packages])
        let sums = try run("sha256sum", ["--check", "--strict", "SHA256SUMS"], directory: packages)
        #expect(sums.status == .exited(0), "\(sums.stderr)")
        let archive = try #require(try files(packages).first { $0.hasSuffix(".tar.xz") })
        #expect(try run("tar", ["-xf", archive], directory: packages).status == .exited(0))
        return ("\(packages)/\(archive.dropLast(".tar.xz".count))", try program.scratch.read("\(name)/\(archive)"))
    }

    @Test("the archive runs from any folder, has manual, completions, documentation, and is the same each time")
    func tarball() throws {
        let (folder, archive) = try unpack("one")
        #expect(try unpack("two").archive == archive)
        let cubby = "\(folder)/bin/cubby"
        let output = try run(
            cubby, ["-e", "print(bundle:read('household.csv'):match('^[^\\n]*'))"], environment: program.environment,
            directory: "/")
        #expect(output.stdout.hasPrefix("name,"), "\(output.stderr)")
        #expect(try run(cubby, ["--version"]).stdout == (try program("--version").stdout))

        let files = Set(try files(folder))
        for command in try commands() {
            #expect(files.contains("share/man/man1/cubby-\(command).1.gz"), "\(command)")
        }
        for name in [
            "man/man1/cubby.1.gz", "bash-completion/completions/cubby", "zsh/site-functions/_cubby",
            "fish/vendor_completions.d/cubby.fish", "doc/cubby/copyright", "doc/cubby/LICENSE",
            "doc/cubby/docs/reference/items.md", "doc/cubby/docs/products/csv.md",
            "doc/cubby/examples/household.lua", "doc/cubby/examples/jobs/inbox.lua", "systemd/user/cubby@.service",
        ] { #expect(files.contains("share/\(name)"), "\(name)") }
        #expect(!files.contains { $0.hasSuffix(".swift") })
    }

    /// The commands that the help names.
    private func commands() throws -> [String] {
        let help = try program("--help").stdout
        let list = try #require(help.firstRange(of: "SUBCOMMANDS:"))
        return help[list.upperBound...].matches(of: /(?m)^  ([a-z]+)( \(default\))?(  |$)/).map { String($0.1) }
            .filter { $0 != "help" && $0 != "start" }
    }

    @Test("every page of the manual is made without a warning, and names each option of its command")
    func manual() throws {
        let (folder, _) = try unpack("manual")
        var environment = ProcessInfo.processInfo.environment
        environment["MANWIDTH"] = "100"
        environment["LC_ALL"] = "C.UTF-8"
        for command in try commands() + [""] {
            let page = "\(folder)/share/man/man1/cubby\(command.isEmpty ? "" : "-\(command)").1.gz"
            let shown = try run("man", ["--warnings", "--local-file", page], environment: environment)
            #expect(shown.status == .exited(0), "\(command)")
            #expect(shown.stderr == "", "\(command)")
            let help = try program(command.isEmpty ? ["help", "start"] : ["help", command]).stdout
            for option in help.matches(of: /(?m)^  (--[a-z-]+)/) where option.1 != "--version" {
                #expect(shown.stdout.contains(option.1), "\(command) \(option.1)")
            }
        }
    }

    @Test("what is installed is taken away again, and nothing else; an installation that was cut off, too")
    func installation() throws {
        let prefix = program.scratch.file("prefix")
        try program.scratch.write("mine", to: "prefix/share/doc/mine.txt")
        let before = try FileManager.default.subpathsOfDirectory(atPath: prefix).sorted()
        _ = try script("install", ["--prefix", prefix, "--program", program.path])
        #expect(try files(prefix).contains("bin/cubby"))
        // Again, as an upgrade does it, while the former program runs.
        let running = try PseudoTerminal("\(prefix)/bin/cubby", environment: program.environment)
        try running.expect("> ")
        try program.scratch.write("old", to: "prefix/share/cubby/gone.txt")
        let list = String(decoding: try program.scratch.read("prefix/share/cubby/installed"), as: UTF8.self)
        try program.scratch.write(list + "share/cubby/gone.txt\n", to: "prefix/share/cubby/installed")
        _ = try script("install", ["--prefix", prefix, "--program", program.path])
        #expect(!(try files(prefix).contains("share/cubby/gone.txt")))
        try running.sendLine("print(6 * 7)")
        try running.expect("42")
        running.kill()
        // As where it was cut off: a file is missing, another is under its temporary name.
        try FileManager.default.moveItem(atPath: "\(prefix)/bin/cubby", toPath: "\(prefix)/bin/.cubby.new")
        _ = try script("install", ["--prefix", prefix, "--uninstall"])
        #expect(try FileManager.default.subpathsOfDirectory(atPath: prefix).sorted() == before)
    }
}
