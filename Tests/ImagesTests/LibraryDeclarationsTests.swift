import TestSupport
import Testing

/// CImaging calls libvips by declarations of its own: a wrong one would be found by nobody before it crashes.
@Suite("libvips's declarations") struct LibraryDeclarationsTests {
    static let judge = "\(Project.root)/Tests/Judges/libvips_declarations.c"

    /// Compiles a file beside libvips's headers, without writing anything.
    private func compile(_ path: String) throws -> ProcessOutput {
        try run(
            "/bin/bash", ["-c", "exec clang -fsyntax-only -Werror $(pkg-config --cflags vips) \"$0\"", path],
            timeout: 60)
    }

    @Test("agree with its headers")
    func agreement() throws {
        let output = try compile(Self.judge)
        #expect(output.status == .exited(0), "\(output.stderr)")
    }

    /// What CImaging declares is renamed once libvips's headers have been read.
    @Test("would not agree with others", arguments: ["vips_init vips_shutdown", "VIPS_SIZE_FORCE VIPS_SIZE_DOWN"])
    func disagreement(renaming: String) throws {
        let folder = try TemporaryDirectory()
        let text = """
            #include <vips/vips.h>
            #include <vips/vector.h>
            #define \(renaming)
            #include "\(Self.judge)"

            """
        #expect(try compile(folder.write(text.utf8, to: "other.c")).status != .exited(0))
    }
}
