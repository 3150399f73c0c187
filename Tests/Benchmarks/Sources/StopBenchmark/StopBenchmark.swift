import Cubby
import Foundation

/// Measures how long after its deadline each script of `Tests/Hostile/scripts.lua` is stopped, as a chunk at a prompt and as
/// a handler with a budget, and whether the host is usable then.
///
///     swift run -c release StopBenchmark FILE [PREFIX OF A SCRIPT]
@main
enum StopBenchmark {
    static let limit = 0.1
    static let target = 0.05

    static func main() throws {
        guard CommandLine.arguments.count > 1 else { throw CocoaError(.fileNoSuchFile) }
        let prefix = CommandLine.arguments.count > 2 ? CommandLine.arguments[2] : ""
        let scripts = try String(contentsOfFile: CommandLine.arguments[1], encoding: .utf8).split(separator: "\n")
            .filter { !$0.hasPrefix("-- ") && $0.hasPrefix(prefix) }.map(String.init)
        let subject = try HostileSubject(limit: limit)
        defer { subject.end() }
        var worst = 0.0
        print("milliseconds from the deadline (\(Int(limit * 1000)) ms) to the script's end, the worse of two")
        print("  prompt    hook")
        for script in scripts {
            var late = (prompt: 0.0, hook: 0.0)
            do {
                for _ in 0..<2 {
                    late.prompt = max(late.prompt, try subject.lateAtPrompt(script))
                    late.hook = max(late.hook, try subject.lateInHook(script))
                }
            } catch let error as HostileSubject.NotStopped {
                print("  NOT STOPPED: \(script): \(error.outcome)")
                worst = .infinity
                continue
            }
            worst = max(worst, late.prompt, late.hook)
            let mark = max(late.prompt, late.hook) > target ? "  missed" : ""
            print(column(late.prompt) + column(late.hook) + "  " + script.prefix(96) + mark)
        }
        print("worst:" + column(worst) + " ms of \(Int(target * 1000))")
    }

    private static func column(_ seconds: Double) -> String {
        let text = String(format: "%.1f", seconds * 1000)
        return String(repeating: " ", count: max(0, 8 - text.count)) + text
    }
}
