import CTextbook
import Lua

/// Measures the bridge against bindings written by hand in C, in turn in one run: nanoseconds an operation, best of
/// several rounds, without the loop around it. What makes handles is measured with a full collection at its end.
///
///     swift run -c release BridgeBenchmark [ROUNDS [NAME]]
///
/// With a name only what begins with it, or `engines`.
@main
enum BridgeBenchmark {
    struct Case {
        let name: String
        let target: Double
        /// The loop's body in Swift's state, and in C's.
        let swift: String
        let c: String

        init(_ name: String, _ target: Double, _ swift: String, c: String? = nil) {
            self.name = name
            self.target = target
            self.swift = swift
            self.c = c ?? swift
        }
    }

    static let cases = [
        Case("integer get", 0.9, "local x = o.count"),
        Case("integer set", 0.9, "o.count = i"),
        Case("string get", 1.2, "local x = o.label"),
        Case("string set, C has char[64]", 1.35, "o.label = s"),
        Case("string set, C has strdup", 1.35, "o.note = s"),
        Case("method with two integers", 1.4, "o:add(i, 2)"),
        Case("handle to a known object", 0.4, "known()", c: "handle()"),
        Case("handle, new", 1.4, "handle()"),
        Case("handle, new, of its own (box)", 1.4, "box()", c: "handle()"),
        Case("object and handle, new", 1.9, "make()"),
        // For the record: what the collector has still to do is in none of these.
        Case("known, left to the collector", .infinity, "known();", c: "handle();"),
        Case("handle, left to the collector", .infinity, "handle();"),
        Case("object, left to the collector", .infinity, "make();"),
    ]

    static func chunk(_ body: String) -> String {
        """
        local n = ...
        local o, s, known, handle, box, make = object, "a text with 20 bytes", known, handle, box, make
        for i = 1, n do \(body) end
        \(body.hasSuffix("()") ? "collectgarbage()" : "")
        """
    }

    static func main() async throws {
        let rounds = CommandLine.arguments.dropFirst().first.flatMap { Int($0) } ?? 15
        let only = CommandLine.arguments.dropFirst(2).first
        // First: what is freed later would be used again.
        let engineSize = only == nil || only == "engines" ? try await EngineBenchmark.kilobytes() : 0
        guard only != "engines" else { return try await printEngines(rounds, engineSize) }
        let textbook = textbook_open()
        defer { textbook_close(textbook) }
        let subject = try BridgeSubject()

        let bodies = [Case("empty", 1, "")] + cases.filter { only == nil || $0.name.hasPrefix(only ?? "") }
        let ours = try bodies.map { try subject.state.load(chunk($0.swift).utf8, name: "=loop") }
        let theirs = bodies.map { textbook_load(textbook, chunk($0.c)) }
        var best = [(swift: Double, c: Double)](repeating: (.infinity, .infinity), count: bodies.count)
        let count: Int64 = 300_000
        for _ in 0..<rounds {
            for index in bodies.indices {
                best[index].swift = min(best[index].swift, try time { _ = try ours[index].call(.integer(count)) })
                best[index].c = min(
                    best[index].c,
                    try time {
                        guard textbook_run(textbook, theirs[index], count) != 0 else {
                            throw LuaError(.runtime, "\(bodies[index].name) failed in C")
                        }
                    })
            }
        }

        print("Lua to Swift, ns an operation without the loop, best of \(rounds) rounds of \(count)")
        print(row("", "C", "Swift", "ratio", "target"))
        for (body, time) in zip(bodies, best).dropFirst() {
            let swift = (time.swift - best[0].swift) / Double(count) * 1e9
            let c = (time.c - best[0].c) / Double(count) * 1e9
            let ratio = swift / c
            print(
                row(
                    body.name, tenths(c), tenths(swift), hundredths(ratio),
                    body.target.isFinite ? hundredths(body.target) : "")
                    + (ratio > body.target ? "  missed" : ""))
        }
        guard only == nil else { return }
        try await printEngines(rounds, engineSize)
        for line in try await CodableBenchmark.rows(rounds: rounds) {
            print(row(line.name, tenths(line.hand), tenths(line.library), hundredths(line.library / line.hand), ""))
        }
    }

    private static func printEngines(_ rounds: Int, _ size: Double) async throws {
        print("Runs, microseconds each", row("", "C", "engine", "at most"), separator: "\n")
        for line in try await EngineBenchmark.lines(rounds: rounds) {
            print(
                row(line.name, tenths(line.hand), tenths(line.engine), tenths(line.target))
                    + (line.engine > line.target ? "  missed" : ""))
        }
        print("An engine in memory: \(tenths(size)) KB, at most 160")
    }

    private static func time(_ body: () throws -> Void) rethrows -> Double {
        let clock = ContinuousClock()
        let elapsed = try clock.measure(body)
        return Double(elapsed.components.seconds) + Double(elapsed.components.attoseconds) / 1e18
    }

    private static func row(_ name: String, _ columns: String...) -> String {
        name + String(repeating: " ", count: max(0, 32 - name.count))
            + columns.map { String(repeating: " ", count: max(0, 8 - $0.count)) + $0 }.joined()
    }

    private static func tenths(_ value: Double) -> String { "\((value * 10).rounded() / 10)" }
    private static func hundredths(_ value: Double) -> String { "\((value * 100).rounded() / 100)" }
}
