/// The states of a program that have been needed so far, with their transitions, in memory that is bounded.
struct PatternAutomaton {
    /// Transitions that lead to no state.
    enum Verdict {
        static let unknown: UInt32 = 0
        static let fails: UInt32 = 1
        static let matches: UInt32 = 2
        /// Transitions from here on are rows of states.
        static let rows: UInt32 = 4
    }

    /// Row by row what follows each class of characters, a row being the index of its first element.
    private(set) var table: [UInt32] = []
    private var stride: Int
    private var places: [PatternStepper.Places] = []
    private var rows: [PatternStepper.Places: UInt32] = [:]
    private var size = 0
    private let memory: Int

    var count: Int { places.count }

    /// - Parameter memory: About how many bytes the states may take.
    init(memory: Int) {
        self.memory = memory
        stride = 16
        clear(classes: 0)
    }

    /// Forgets all states; rows have place for a number of classes then.
    mutating func clear(classes: Int) {
        while stride < classes { stride *= 2 }
        table = [UInt32](repeating: Verdict.unknown, count: stride)
        places = []
        rows = [:]
        size = 0
    }

    func holds(classes: Int) -> Bool { classes <= stride }

    func places(_ row: UInt32) -> PatternStepper.Places { places[Int(row) / stride - 1] }

    /// The row of a state, which is made if there is none; nil when the memory is full.
    mutating func row(_ state: PatternStepper.Places) -> UInt32? {
        if let known = rows[state] { return known }
        let cost = 4 * stride + 4 * state.count + 96
        guard size + cost <= memory || places.isEmpty else { return nil }
        size += cost
        let row = UInt32(table.count)
        table.append(contentsOf: repeatElement(Verdict.unknown, count: stride))
        places.append(state)
        rows[state] = row
        return row
    }

    mutating func set(_ row: UInt32, _ number: UInt16, _ next: UInt32) { table[Int(row) + Int(number)] = next }
}
