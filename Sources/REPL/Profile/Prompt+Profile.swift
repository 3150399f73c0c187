import Application
import Lua
import Scripting
import Wording

/// `:profile` and `:bench`.
extension Prompt {
    func profile(_ entry: String, then end: @escaping () -> Void) {
        guard !entry.isEmpty else {
            complain(":profile needs an entry: :profile items:query(\"name != nil\"):count()")
            return end()
        }
        guard let profiler = Profiler(host) else {
            complain("another prompt's entry is being profiled; try again when it has ended")
            return end()
        }
        run(entry, timed: false) { [self] in
            let profile = profiler.end()
            if host.exitCode == nil, profile.seconds > 0 {
                page(ProfileReport(profile: profile, sources: host.sources, columns: printer.columns).text)
            }
            end()
        }
    }

    func bench(_ entry: String, then end: @escaping () -> Void) {
        guard !entry.isEmpty else {
            complain(":bench needs an entry: :bench (\"x\"):rep(1000)")
            return end()
        }
        changes = ChangeNotice()
        do throws(LuaError) {
            let function = try host.state.loadEntry(
                entry, name: "=:bench", environment: evaluator.scope.environment)
            measure(Benchmark(), function) { [self] result in
                switch result {
                case .success(let benchmark): print(WrappedText.wrapped(benchmark.text, to: printer.columns) + "\n")
                case .failure(let error): report(error)
                }
                tellChanges()
                end()
            }
        } catch {
            report(error)
            end()
        }
    }

    /// Runs a function until the measurement is done. Changes are committed after each round.
    private func measure(
        _ benchmark: Benchmark, _ function: LuaFunction,
        completion: @escaping (Result<Benchmark, LuaError>) -> Void
    ) {
        guard let runs = benchmark.next else { return completion(.success(benchmark)) }
        do throws(LuaError) {
            let loop = try Benchmark.loop(function, runs: runs, on: host)
            let start = MonotonicTime.now()
            run(loop, isEntry: false) { [self] result in
                let seconds = MonotonicTime.now().seconds(since: start)
                switch result {
                case .success:
                    var benchmark = benchmark
                    benchmark.add(seconds)
                    measure(benchmark, function, completion: completion)
                case .failure(let error): completion(.failure(error))
                }
            }
        } catch { completion(.failure(error)) }
    }
}
