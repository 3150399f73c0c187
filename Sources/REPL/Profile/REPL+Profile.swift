import Lua
import Scripting

/// `:profile` and `:bench`.
extension REPL {
    func profile(_ entry: String) {
        guard !entry.isEmpty else {
            return complain(":profile needs an entry: :profile items:query(\"name != nil\"):count()")
        }
        let profile = Profiler.profile(host) { run(entry, timed: false) }
        guard host.exitCode == nil, profile.seconds > 0 else { return }
        page(ProfileReport(profile: profile, sources: host.sources, columns: printer.columns).text)
    }

    func bench(_ entry: String) {
        guard !entry.isEmpty else { return complain(":bench needs an entry: :bench (\"x\"):rep(1000)") }
        changes = ChangeNotice()
        do throws(LuaError) {
            let function = try Evaluator.compile(entry, name: "=:bench", in: host.state, evaluator.scope.environment)
            print(try Benchmark(function, on: host).text + "\n")
        } catch { report(error, in: entry) }
        tellChanges()
    }
}
