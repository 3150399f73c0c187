import Foundation
import KeyedArchive
import PropertyList
import TestSupport
import Testing

@Suite("Archives of other writers")
struct ForeignArchiveTests {
    /// Decodes everything that an archive holds; the error, if there is one.
    static func decodeAll(_ bytes: [UInt8]) -> ArchiveError? {
        do throws(ArchiveError) {
            let reader = try KeyedArchiveReader(bytes)
            let unarchiver = KeyedUnarchiver(reader: reader)
            for key in unarchiver.keys {
                if try reader.uid(forTopKey: key) != nil { _ = try unarchiver.decodeObject(forKey: key) }
            }
            return nil
        } catch {
            return error
        }
    }

    @Test("decode, are saved, and mean the same", arguments: ForeignArchives.all)
    func everyFile(_ entry: ForeignArchives.Entry) throws {
        let bytes = try entry.bytes()
        #expect(Self.decodeAll(bytes) == nil)
        let tree = try ArchiveTree(PropertyListStorage(bytes))
        let graph = try ArchiveGraph(bytes)
        defer { graph.dismantle() }
        for format in [PropertyListFormat.binary, .xml] {
            let saved = try graph.encoded(as: format)
            #expect(try ArchiveGraph(saved).format == format)
            #expect(try Self.differences(tree, ArchiveTree(PropertyListStorage(saved))) == [], "saved as \(format)")
        }
    }

    /// Where two trees differ as objects; without zeros that differ by their sign only, if told so.
    static func differences(_ old: ArchiveTree, _ new: ArchiveTree, signsOfZero: Bool = true) -> [String] {
        var places: [String] = []
        var difference = TreeDifference(old, new)
        var zeros = 0
        let isSame = difference.compare { change in
            if !signsOfZero, case .changed(_, let one, let other) = change,
                case .leaf(.real(0)) = old.value(one).content, case .leaf(.real(0)) = new.value(other).content
            {
                zeros += 1
                return
            }
            switch change {
            case .removed(let path, _): places.append("- \(path)")
            case .added(let path, _): places.append("+ \(path)")
            case .changed(let path, _, _): places.append("~ \(path)")
            case .shared(let path): places.append("shared \(path)")
            case .described(let path, let old, let new): places.append("~ \(path): \(old), \(new)")
            }
        }
        #expect(isSame == (places.isEmpty && zeros == 0))
        return places
    }

    /// The malformed files of the shared data.
    static let malformed: [URL] = {
        guard let folder = Project.sharedData("hostile") else { return [] }
        let urls = try? FileManager.default.contentsOfDirectory(
            at: URL(fileURLWithPath: folder), includingPropertiesForKeys: nil)
        return (urls ?? []).filter { $0.lastPathComponent != "index.tsv" }.sorted { $0.path < $1.path }
    }()

    @Test(
        "malformed ones give a value or an error",
        .enabled(if: Project.shared != nil, "\(Project.sharedIsAbsent)"), arguments: malformed)
    func hostile(_ url: URL) throws {
        let bytes = [UInt8](try Data(contentsOf: url))
        _ = try? PropertyListValue(decoding: bytes)
        _ = Self.decodeAll(bytes)
        if let graph = try? ArchiveGraph(bytes) {
            defer { graph.dismantle() }
            _ = graph.dump()
            _ = try? graph.encoded()
        }
    }

    @Test("cut off anywhere, they give an error and never more than the whole")
    func truncation() throws {
        for name in [
            "kiler129_NSKeyedUnarchiver__collections.bin.plist", "kiler129_NSKeyedUnarchiver__reference.xml.plist",
        ] {
            let bytes = try #require(ForeignArchives.named(name)).bytes()
            for length in 0..<bytes.count {
                let part = Array(bytes[..<length])
                let error = Self.decodeAll(part)
                // XML may end in spaces that mean nothing.
                if name.contains(".bin.") { #expect(error != nil) }
            }
        }
    }

    @Test("with bytes changed at random, they give a value or an error")
    func changedBytes() throws {
        var random = SplitMix(state: 20260919)
        for entry in ForeignArchives.all {
            let bytes = try entry.bytes()
            guard bytes.count < 20_000 else { continue }
            for _ in 0..<60 {
                var changed = bytes
                for _ in 0..<Int.random(in: 1...4, using: &random) {
                    changed[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
                }
                _ = try? PropertyListValue(decoding: changed)
                _ = Self.decodeAll(changed)
                _ = try? ArchiveGraph.saved(changed)
            }
        }
    }
}

/// A generator that gives the same numbers in each run.
struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }
}
