import TestSupport
import Testing

@Suite("Running commands")
struct RunTests {
    @Test("output, error and status come back apart")
    func parts() throws {
        let output = try run("sh", ["-c", "cat; echo wrong >&2; exit 7"], input: "given")
        #expect(output.stdout == "given")
        #expect(output.stderr == "wrong\n")
        #expect(output.status == .exited(7))
    }

    @Test("much input and output flow at once")
    func large() throws {
        let bytes = [UInt8](repeating: UInt8(ascii: "x"), count: 1_000_000)
        #expect(try run("cat", input: bytes).standardOutput == bytes)
    }

    @Test("a child that ignores its input is not an error")
    func ignoredInput() throws {
        let output = try run("true", input: [UInt8](repeating: 0, count: 1_000_000))
        #expect(output.status == .exited(0))
    }

    @Test("environment and directory are the ones given")
    func surroundings() throws {
        let directory = try TemporaryDirectory()
        let output = try run(
            "/bin/sh", ["-c", "pwd; echo $GREETING"], environment: ["GREETING": "hello"], directory: directory.path)
        #expect(output.stdout == "\(directory.path)\nhello\n")
    }

    @Test("a command that is not there says so")
    func absent() {
        #expect(throws: TestFailure.self) { try run("no-such-command-at-all") }
    }

    @Test("a temporary directory goes with its last reference")
    func temporary() throws {
        var directory: TemporaryDirectory? = try TemporaryDirectory()
        let path = try #require(directory).path
        try directory?.write("text", to: "folder/file")
        #expect(try directory?.contents() == ["folder"])
        directory = nil
        #expect(try run("test", ["-e", path]).status == .exited(1))
    }
}
