import CommandTestSupport
import Foundation
import TestSupport
import Testing

/// What both fences of the sandbox keep out, and each alone. The ways that scripts try are in `SandboxEscapeTests`.
@Suite("Fences", .serialized)
struct FenceTests {
    let program: Program
    let secret: String

    init() throws {
        program = try Program()
        secret = try program.scratch.write("SECRET", to: "outside/secret.txt")
        try program.scratch.write("own", to: "container/Documents/own")
    }

    /// The options that leave only this fence; both stand without any.
    private func only(_ fence: String) -> [String] { fence == "both" ? [] : ["--only-\(fence)-fence"] }

    @Test("no two options together leave none")
    func oneFenceStays() throws {
        let result = try program("--only-path-fence", "--only-kernel-fence", "-e", "print(1)")
        #expect(result.status == .exited(64) && result.stdout.isEmpty)
        #expect(result.stderr.contains("leave no fence"))
    }

    @Test("another application's container is out of reach, with both fences and with each")
    func otherContainer() throws {
        let other = try Program()
        _ = try other("-e", "items:createItem{ name = 'theirs' }")
        for fence in ["both", "path", "kernel"] {
            let result = try program(
                only(fence) + ["-e", "print(fs.list('\(other.container)'), io.open('\(other.archive)'))"])
            #expect(result.stdout.hasPrefix("nil\tnil\t"), "\(fence): \(result.stdout)")
        }
    }

    @Test("programs that a script may start are held by the kernel's fence")
    func programs() throws {
        let result = try program(
            "--allow-run", "-e",
            "print(io.popen('cat \(secret) 2>&1; ln \(secret) \(program.container)/Documents/hard 2>&1; ln -s \(secret) \(program.container)/Documents/soft 2>&1'):read('a'))"
        )
        #expect(!result.stdout.contains("SECRET"))
        #expect(
            result.stdout.contains("Permission denied") || result.stdout.contains("cross-device"), "\(result.stdout)")
    }

    @Test(
        "what a plain file may hold reaches nothing: preferences and restoration by way of a link",
        arguments: ["Library/Preferences/cubby.plist", "Library/Application Support/restoration.plist"])
    func links(part: String) throws {
        let path = URL(fileURLWithPath: "\(program.container)/\(part)")
        try FileManager.default.createDirectory(
            at: path.deletingLastPathComponent(), withIntermediateDirectories: true)
        let list = try program.scratch.write(
            "<plist version=\"1.0\"><dict><key>k</key><string>SECRET</string></dict></plist>", to: "outside/list.plist")
        try FileManager.default.createSymbolicLink(atPath: path.path, withDestinationPath: list)
        let before = try Data(contentsOf: URL(fileURLWithPath: list))
        for fence in ["both", "path", "kernel"] {
            let result = try program(
                only(fence) + ["-e", "print(defaults:get('k'), next(app.restoration)) app.restoration.k = 'changed'"])
            #expect(result.status == .exited(65), "\(fence): \(result.stderr)")
            #expect(result.stdout == "", "\(fence)")
            #expect(result.stderr.contains(path.lastPathComponent) && result.stderr.contains(list), "\(fence)")
            #expect(try Data(contentsOf: URL(fileURLWithPath: list)) == before, "\(fence)")
        }
    }

    @Test("--require-sandbox closes the kernel's fence at the prompt, too; the banner says which stand")
    func banner() throws {
        let strict = try program.terminal("--require-sandbox")
        try strict.expect("and Landlock ABI")
        try strict.expect("> ")
        try strict.enter("print((select(2, fs.read(\"/etc/passwd\"))).code)", andExpect: "13")
        try strict.send(control: "d")
        _ = try strict.waitForExit()
        let free = try program.terminal()
        try free.expect("sandbox: paths (")
        try free.expect("> ")
        try free.begin("return fs.read(\"\(secret)\")", andExpect: "Allow reading")
        try free.sendLine("n")
        try free.expect("--allow-read")
        try free.send(control: "d")
        _ = try free.waitForExit()
    }
}
