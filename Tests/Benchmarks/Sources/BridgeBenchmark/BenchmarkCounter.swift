import Lua

/// The object of the measurements: an integer, two texts, and a method.
final class BenchmarkCounter {
    var count: Int64 = 0
    var label = "a label of 20 bytes."
    var note = "a note that has 24 bytes"

    func add(_ amount: Int64, _ times: Int64) -> Int64 {
        count += amount * times
        return count
    }
}
