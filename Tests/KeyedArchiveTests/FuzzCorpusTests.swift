import Foundation
import FuzzExercise
import TestSupport
import Testing

/// The short form of `scripts/soak fuzz`: the corpus again, and changes of it that keep the structure alive.
@Suite("The fuzzer's corpus")
struct FuzzCorpusTests {
    /// Inputs that reached new places in the code when the fuzzer ran.
    static let corpus: [(layer: FuzzLayer, bytes: [UInt8])] = {
        let text = (try? String(contentsOfFile: "\(Project.root)/Tests/Fuzz/Corpus.tsv", encoding: .utf8)) ?? ""
        return text.split(separator: "\n").compactMap { line in
            let cells = line.split(separator: "\t").map(String.init)
            guard cells.count == 2, let layer = FuzzLayer(rawValue: cells[0]), let data = Data(base64Encoded: cells[1])
            else { return nil }
            return (layer, [UInt8](data))
        }
    }()

    @Test("the corpus is there, of each layer", arguments: FuzzLayer.allCases)
    func isThere(_ layer: FuzzLayer) {
        #expect(Self.corpus.count { $0.layer == layer } >= 50)
    }

    @Test("gives values or errors, and keeps every promise", arguments: FuzzLayer.allCases)
    func replay(_ layer: FuzzLayer) throws {
        for input in Self.corpus where input.layer == layer {
            try Exercise.everything(layer.file(from: input.bytes))
        }
    }

    @Test(
        "changed: pieces of one put into another, doubled, cut out, single bytes made others",
        arguments: FuzzLayer.allCases)
    func mutations(_ layer: FuzzLayer) throws {
        let inputs = Self.corpus.filter { $0.layer == layer }.map(\.bytes)
        var random = SplitMix(state: 20_261_121)
        for _ in 0..<1500 {
            guard var bytes = inputs.randomElement(using: &random), let other = inputs.randomElement(using: &random),
                !bytes.isEmpty, !other.isEmpty
            else { continue }
            let start = Int.random(in: 0..<bytes.count, using: &random)
            let end = Int.random(in: start..<bytes.count, using: &random)
            let from = Int.random(in: 0..<other.count, using: &random)
            switch Int.random(in: 0..<4, using: &random) {
            case 0: bytes.replaceSubrange(start...end, with: other[from...])
            case 1: bytes.insert(contentsOf: bytes[start...end], at: start)
            case 2: bytes.removeSubrange(start...end)
            default: bytes[start] = [0, 1, 0x7F, 0x80, 0xFF, bytes[end]].randomElement(using: &random) ?? 0
            }
            try Exercise.everything(layer.file(from: bytes))
        }
    }
}
