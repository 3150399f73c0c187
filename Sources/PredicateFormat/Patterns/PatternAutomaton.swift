/// A lazily built deterministic automaton: its states and transitions so far, in bounded memory.
///
/// A state is a set of states of the nondeterministic automaton, and a row of the table.
struct PatternAutomaton {
    /// Table values that are not rows.
    enum Verdict {
        static let unknown: UInt32 = 0
        static let fails: UInt32 = 1
        static let matches: UInt32 = 2
        /// The first value that is a row.
        static let rows: UInt32 = 4
    }

    /// Each state's transitions by character class. A row number is the index of its first element.
    private(set) var table: [UInt32] = []
    private var stride: Int
    private var stateSets: [PatternStepper.StateSet] = []
    private var rows: [PatternStepper.StateSet: UInt32] = [:]
    private var size = 0
    private let memory: Int

    var count: Int { stateSets.count }

    /// `memory` is the approximate limit of the states, in bytes.
    init(memory: Int) {
        self.memory = memory
        stride = 16
        clear(classes: 0)
    }

    /// Removes all states. New rows have at least `classes` elements.
    mutating func clear(classes: Int) {
        while stride < classes { stride *= 2 }
        table = [UInt32](repeating: Verdict.unknown, count: stride)
        stateSets = []
        rows = [:]
        size = 0
    }

    func holds(classes: Int) -> Bool { classes <= stride }

    func states(_ row: UInt32) -> PatternStepper.StateSet { stateSets[Int(row) / stride - 1] }

    /// The row of a state, added if it is new; nil when the memory is full.
    mutating func row(_ states: PatternStepper.StateSet) -> UInt32? {
        if let known = rows[states] { return known }
        let cost = 4 * stride + 4 * states.count + 96
        guard size + cost <= memory || stateSets.isEmpty else { return nil }
        size += cost
        let row = UInt32(table.count)
        table.append(contentsOf: repeatElement(Verdict.unknown, count: stride))
        stateSets.append(states)
        rows[states] = row
        return row
    }

    mutating func set(_ row: UInt32, _ number: UInt16, _ next: UInt32) { table[Int(row) + Int(number)] = next }
}
