import Foundation
import TestSupport
import Testing

@testable import Lua

/// The functions of Lua's library that the shim has made anew do what Lua's own do, errors and their words included.
@Suite("Library, against Debian's lua5.4")
struct LibraryTests {
    static let reference = ["/usr/bin/lua5.4", "/usr/local/bin/lua5.4"].first {
        FileManager.default.isExecutableFile(atPath: $0)
    }

    @Test(
        "the same results, line by line", .enabled(if: reference != nil, "there is no lua5.4 to compare with"),
        arguments: 1...6)
    func sameResults(seed: Int) throws {
        let output = try TestSupport.run(
            try #require(Self.reference), ["-"],
            input: Array(LibraryScript.text(seed: seed, ending: "io.write(main())").utf8))
        try #require(output.standardError.isEmpty, "\(output.stderr)")
        let values = try Fixture().run(LibraryScript.text(seed: seed, ending: "return main()"), name: "=stdin")
        guard case .string(let ours)? = values.first else {
            Issue.record("no text")
            return
        }
        let theirs = output.standardOutput.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        let lines = ours.bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        #expect(lines.count == theirs.count)
        #expect(lines.count > 10_000)
        for (our, their) in zip(lines, theirs) where our != their {
            #expect(String(decoding: our, as: UTF8.self) == String(decoding: their, as: UTF8.self))
        }
    }
}
