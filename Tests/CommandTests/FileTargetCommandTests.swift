import Foundation
import TestSupport
import Testing

/// What a command or a script writes is a file, a stream or a device: only a file is replaced.
@Suite("Targets of commands", .enabled(if: Program.isBuilt, Comment(rawValue: Project.cubbyIsAbsent)))
struct FileTargetCommandTests {
    let program: Program

    init() throws {
        program = try Program()
        try program.scratch.write("<plist version=\"1.0\"><array><string>a</string></array></plist>", to: "in.plist")
    }

    private func file(_ name: String) -> String { program.scratch.file(name) }

    @Test(
        "convert writes to standard output by each of its names, also where that is a file",
        arguments: ["-", "/dev/stdout", "/dev/fd/1"])
    func standardOutput(name: String) throws {
        let output = try program("convert", file("in.plist"), name, "--format", "json")
        #expect(output.status == .exited(0), "\(output.stderr)")
        #expect(output.stdout.contains("\"a\""))
        let redirected = try run(
            "/bin/sh",
            [
                "-c",
                "echo before > '\(file("out"))'; \"$CUBBY\" convert '\(file("in.plist"))' \(name) --format json >> '\(file("out"))'",
            ],
            environment: program.environment)
        #expect(redirected.status == .exited(0), "\(redirected.stderr)")
        let text = String(decoding: try program.scratch.read("out"), as: UTF8.self)
        #expect(text.hasPrefix("before\n") && text.contains("\"a\""))
    }

    @Test("convert writes into a pipe and through a link, which stay")
    func pipeAndLink() throws {
        let script = """
            mkfifo pipe && ln -s real link && echo old > real
            cat pipe > read & "$CUBBY" convert in.plist pipe --format json && wait && test -p pipe || exit 2
            "$CUBBY" convert in.plist link --format json && test -L link && cmp real read
            """
        let output = try run(
            "/bin/sh", ["-c", script], environment: program.environment, directory: program.scratch.path)
        #expect(output.status == .exited(0), "\(output.stdout)\(output.stderr)")
        #expect(String(decoding: try program.scratch.read("read"), as: UTF8.self).contains("\"a\""))
    }

    @Test("a device stays what it is, whatever writes to it", .enabled(if: getuid() == 0, "only root makes devices"))
    func device() throws {
        // A device of the test's own: the system's would be gone for everybody if this failed.
        let script = """
            mknod null c 1 3 && echo x > null || exit 77
            "$CUBBY" convert in.plist null && test -c null || exit 2
            "$CUBBY" --allow-write . -e 'items:createItem() assert(items:export("null", { format = "csv" }))
            assert(fs.write("null", "x") and csv.write("null", {}) and plist.write({}, "null"))
            assert(archiver.archiveRootObject({ 1 }, "null"))
            assert(fs.write("/dev/null", "x") and items:export("/dev/null", { format = "csv" }))' && test -c null
            """
        let output = try run(
            "/bin/sh", ["-c", script], environment: program.environment, directory: program.scratch.path)
        // Some file systems let nobody use a device on them.
        #expect([.exited(0), .exited(77)].contains(output.status), "\(output.stdout)\(output.stderr)")
    }

    @Test("a script's standard output is in order, and counted; other descriptors are not the script's")
    func script() throws {
        let output = try program(
            "-e",
            """
            items:createItem{ name = 'Lamp' }
            print('before') assert(items:export('/dev/stdout', { format = 'csv' })) print('after')
            assert(fs.write('/dev/stderr', 'error\\n'))
            local ok, err = fs.write('/dev/fd/3', 'x') print(ok, err.code)
            """)
        #expect(output.stdout.hasPrefix("before\nname,"), "\(output.stdout)")
        #expect(output.stdout.contains("Lamp") && output.stdout.hasSuffix("after\nnil\t13\n"), "\(output.stdout)")
        #expect(output.stderr.contains("error\n"))
    }
}
