import CommandTestSupport
import Foundation
import TestSupport
import Testing

/// `cubby kernel`, as far as it goes without a front end.
@Suite("The kernel's command")
struct KernelCommandTests {
    let program: Program

    init() throws { program = try Program() }

    private static let hasLibrary =
        (try? run("python3", ["-c", "import ctypes; ctypes.CDLL('libzmq.so.5')"]))?.status == .exited(0)

    @Test("a connection file that is none, or not understood, is refused by its status")
    func refused() throws {
        let file = try program.scratch.write("{\"transport\": \"tcp\"}", to: "connection.json")
        let broken = try program("kernel", "-f", file)
        #expect(
            broken.status == .exited(65) && broken.stderr.contains("\"ip\"") || !Self.hasLibrary, "\(broken.stderr)")
        #expect(try program("kernel", "-f", program.scratch.file("absent")).status == .exited(74))
        #expect(try program("kernel").status == .exited(64))
    }

    @Test("the registration has the host's options, with absolute paths, and no others")
    func installed() throws {
        let folder = program.scratch.file("environment")
        let output = try program(
            "kernel", "install", "--user", "--name", "trial", "--container", "data", "--time-limit", "5",
            environment: ["JUPYTER_DATA_DIR": folder])
        #expect(output.status == .exited(0), "\(output.stderr)")
        let data = try Data(contentsOf: URL(filePath: "\(folder)/kernels/trial/kernel.json"))
        let specification = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
        let words = try #require(specification["argv"] as? [String])
        #expect(words[1] == "kernel" && words.suffix(2) == ["-f", "{connection_file}"])
        let options = words[2..<(words.count - 2)]
        #expect(options.first == "--container" && options.dropFirst().first?.hasPrefix("/") == true)
        #expect(options.suffix(2) == ["--time-limit", "5"], "\(words)")
        #expect(specification["interrupt_mode"] as? String == "message")
        #expect(specification["display_name"] as? String == "Cubby (trial)")
    }
}
