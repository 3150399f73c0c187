import CFloor
import Foundation
import KeyedArchive
import PropertyList

/// Archives a store's items with Cubby's codec, Foundation's, a floor in C, Python's plistlib and plistutil, in one run.
///
///     swift run -c release ArchiveBenchmark [N …]
///
/// `--repeat write|read|floor N ROUNDS` does one thing alone, for a profiler; `--memory write|file|read N` is what it starts itself with, to see how far memory grows.
@main
enum ArchiveBenchmark {
    static func main() throws {
        var arguments = Array(CommandLine.arguments.dropFirst())
        // Both sides meet memory that the process has already, as in a program that runs on. Left to itself the allocator
        // gives back now this and now that, and whoever comes next waits for the system to clear it.
        if arguments.first != "--memory" { floor_keep_memory() }
        if arguments.first == "--memory", arguments.count == 3, let count = Int(arguments[2]) {
            return try Memory.measure(arguments[1], count)
        }
        // For a profiler: nothing but one of both, again and again.
        if arguments.first == "--repeat", arguments.count == 4, let count = Int(arguments[2]),
            let rounds = Int(arguments[3])
        {
            return try again(arguments[1], count, rounds)
        }
        // For those who work on the codec: only ours and the floor.
        let isQuick = arguments.first == "--quick"
        if isQuick { arguments.removeFirst() }
        let counts = arguments.isEmpty ? [1000, 100_000, 1_000_000] : arguments.compactMap { Int($0) }
        print("archiving, µs of the processor an item (best of several rounds; every ratio within one run)")
        for count in counts { try compare(count, isQuick: isQuick) }
        for count in counts where count >= 100_000 && (!isQuick || count <= 2_000_000) { try Memory.report(count) }
    }

    private static func again(_ kind: String, _ count: Int, _ rounds: Int) throws {
        let stores = (0..<max(1, 100_000 / count)).map { SampleStore(SampleItem.make(count, store: $0)) }
        let archives = try stores.map { try CubbyCodec.write($0) }
        let seconds = try best(rounds, of: stores.count) {
            switch kind {
            case "read": _ = try CubbyCodec.read(archives[$0])
            case "floor": _ = FloorCodec.write(stores[$0])
            default: _ = try CubbyCodec.write(stores[$0])
            }
        }
        print(String(format: "%@: %.3f µs an item", kind, seconds / Double(count) * 1e6))
    }

    private static func compare(_ count: Int, isQuick: Bool) throws {
        // Small stores come by the hundred, so that no processor learns the only one by heart.
        let stores = (0..<max(1, 100_000 / count)).map { SampleStore(SampleItem.make(count, store: $0)) }
        let items = stores[0].items
        let rounds = count > 2_000_000 ? 2 : count > 200_000 ? 3 : 7
        let write = try best(rounds, of: stores.count) { _ = try CubbyCodec.write(stores[$0]) }
        let writeStrings = try best(rounds, of: stores.count) { _ = try CubbyCodec.write(stores[$0].items) }
        let floorWrite = best(rounds, of: stores.count) { _ = FloorCodec.write(stores[$0]) }
        try compareBytes(stores[0])
        let archives = try stores.map { try CubbyCodec.write($0) }
        let ours = archives[0]
        var sum = 0
        let path = NSTemporaryDirectory() + "/\(UUID().uuidString).archive"
        defer { unlink(path) }
        let writeFile = try best(rounds, of: min(3, stores.count)) { try CubbyCodec.write(stores[$0], to: path) }
        let read = try best(rounds, of: stores.count) { sum = try CubbyCodec.read(archives[$0]) }
        precondition(sum == SampleItem.sum(stores[stores.count - 1].items))
        let floorRead = best(rounds, of: stores.count) { FloorCodec.read(archives[$0]) }
        var name: String?
        // The first round meets what the allocator put off when the items before were given back.
        let first = try best(max(rounds, 3)) { name = try CubbyCodec.firstName(ours) }
        precondition(name == items[0].name)
        func line(_ name: String, _ write: Double?, _ read: Double?, _ bytes: Int?) {
            func text(_ seconds: Double?) -> String {
                seconds.map { String(format: "%8.3f", $0 / Double(count) * 1e6) } ?? "       –"
            }
            let ratios = [write.map { $0 / ourWrite }, read.map { $0 / ourRead }].map { ratio in
                ratio.map { String(format: $0 < 10 ? "%.2f" : "%.0f", $0) } ?? "–"
            }
            print(
                "  \(name.padding(toLength: 34, withPad: " ", startingAt: 0)) write\(text(write))  read\(text(read))  "
                    + "\(bytes.map { "\($0 / count) B" } ?? "–")  ours takes 1/\(ratios[0]) and 1/\(ratios[1])")
        }
        let (ourWrite, ourRead) = (write, read)
        print("\(count) items")
        line("Cubby", write, read, ours.count)
        line("Cubby, from strings", writeStrings, nil, nil)
        line("Cubby, to a synced file", writeFile, nil, nil)
        print(String(format: "    to the first item, the others untouched: %.1f µs in all", first * 1e6))
        line("C, the same bytes", floorWrite, floorRead, ours.count)
        if isQuick { return }
        if count <= 100_000 {
            let foundation = try FoundationCodec.measure(items)
            line("Foundation NSKeyedArchiver", foundation.write, foundation.read, foundation.bytes)
        } else {
            print("  Foundation is left out above 100,000: it would take minutes; its time an item does not fall")
        }
        let peers = try OtherReaders.measure(ours)
        line("Python plistlib, same bytes", peers.pythonWrite, peers.pythonRead, nil)
        line("plistutil to XML, same bytes", nil, peers.plistutil, nil)
        let xml = try best(1) { _ = try BinaryPropertyListReader(ours).xml() }
        line("Cubby to XML, same bytes", nil, xml, nil)
    }

    /// Holds the floor to writing what Cubby writes, of these items and of some that have much in common.
    private static func compareBytes(_ store: SampleStore) throws {
        for store in [store] + [1, 20, 900].map({ SampleStore(SampleItem.makeAlike($0)) }) {
            let ours = try CubbyCodec.write(store)
            precondition(FloorCodec.write(store).isSame(as: ours), "the floor writes other bytes")
        }
    }

    /// Nanoseconds of the processor that this process has had: what others do meanwhile does not count.
    private static func processorTime() -> UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }

    /// The best of several rounds over so many stores, by the store.
    private static func best(_ rounds: Int, of stores: Int, _ body: (Int) throws -> Void) rethrows -> Double {
        try best(rounds) { for store in 0..<stores { try body(store) } } / Double(stores)
    }

    static func best(_ rounds: Int, _ body: () throws -> Void) rethrows -> Double {
        var best = Double.infinity
        for _ in 0..<rounds {
            let start = processorTime()
            try body()
            best = min(best, Double(processorTime() - start) / 1e9)
        }
        return best
    }
}
