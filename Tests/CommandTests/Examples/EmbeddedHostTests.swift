import TestSupport
import Testing

/// The program of examples/EmbeddedHost, built as a package of its own: it gets by on the product `Lua`.
@Suite("Embedded host", .serialized)
struct EmbeddedHostTests {
    static let expected = """
        properties: Palm House  18.0  closed
        callback: 22.0  closed  26.0  ajar
        array: 28.0 32.0 24.0  closed
        another: 19.5  false  true
        caught: false  tooHot  124.0 degrees would burn the plants
        uncaught: refused (runtime): 124.0 degrees would burn the plants
        enum: refused (runtime): enum:1: Greenhouse.vents: "closed" or "ajar" or "open" expected, got "opne"; did you mean 'open'?
        argument: refused (runtime): argument:1: bad argument #1 'change' to 'Greenhouse:heat' (number expected, got string)
        misspelt: refused (runtime): misspelt:1: Greenhouse has no property or method 'haet'; did you mean 'heat'?
        memory: refused (memory): not enough memory (the limit is 8 MB)
        time: refused (deadline): time is up
        files: nil  nil
        afterwards: 24.0  closed
        Swift sees 24.0 degrees, vents closed

        """

    @Test("builds against the product Lua alone, and does what it prints", .timeLimit(.minutes(5)))
    func example() throws {
        let output = try run(ExamplePackage("EmbeddedHost").program("EmbeddedHost"))
        #expect(output.status == .exited(0), "\(output.stderr)")
        #expect(output.stdout == Self.expected)
    }
}
