import Application
import Files
import Glibc
import Lua

/// Standard input for scripts: a read waits in the loop until it has all that it asks for, while signals, timers,
/// attached prompts and other tasks are served.
///
/// Reads take the input in the order in which they began. A read of the terminal in the background stops the process, as
/// it stops any other program.
package final class StandardInput {
    /// A script's read that waits.
    private final class Read {
        var formats: ArraySlice<InputBuffer.Format>
        var values: [InputBuffer.Taken] = []
        var failure: (any Error)?
        /// Whether a failure is raised, not returned.
        let raises: Bool
        weak var task: ScriptTask?
        var resume: () -> Void = {}

        init(_ formats: [InputBuffer.Format], raises: Bool) {
            (self.formats, self.raises) = (formats.isEmpty ? [.line(keepsEnd: false)] : formats[...], raises)
        }
    }

    /// The number of bytes read at once, and how much is read without a turn of the loop.
    private static let chunk = 1 << 16
    private static let greed = 16

    private unowned let lifeCycle: LifeCycle
    private let runtime: Runtime
    private let handlesSignals: Bool
    /// Replaced in tests only, before anything is read.
    package var descriptor = StandardDescriptor.input {
        didSet { terminal = Terminal(descriptor: descriptor, isOwned: false) }
    }
    private var terminal = Terminal(descriptor: StandardDescriptor.input, isOwned: false)
    private var buffer = InputBuffer()
    private var reads: [Read] = []
    private var watch: LoopWatch?
    /// Gives the terminal to the first read that waits, and takes it back after the last: a prompt reads keys itself.
    package var lend: (() -> Void)?
    package var takeBack: () -> Void = {}
    /// How many questions, pagers and programs have the terminal: the reads pause.
    package var pauses = 0 {
        didSet { update() }
    }

    init(_ lifeCycle: LifeCycle, handlesSignals: Bool) {
        (self.lifeCycle, self.handlesSignals, runtime) = (lifeCycle, handlesSignals, lifeCycle.runtime)
    }

    /// Takes what was read and no script has taken: what was typed ahead is the prompt's.
    package func takeRest() -> [UInt8] { reads.isEmpty ? Array(buffer.takeRest()) : [] }

    /// Gives bytes to the reads that wait, beside those of the descriptor: the answer to a question for them.
    package func supply(_ bytes: [UInt8]) {
        buffer.append(bytes)
        resume()
    }

    /// Ends the reads that wait, as the end of the input does.
    package func supplyEnd() {
        for read in reads {
            runtime.loop.urgently { [weak self] in
                guard let self, reads.contains(where: { $0 === read }) else { return }
                _ = advance(read, isAtEnd: true)
                forget(read)
                read.resume()
            }
        }
    }

    // MARK: Reading

    /// Reads by formats, as Lua's `read` does; a line if there are none.
    ///
    /// - Parameters:
    ///   - formats: the formats.
    ///   - call: the call, which waits.
    ///   - raises: whether a failure of the system is raised, as by an iterator.
    /// - Returns: what was read; nil, the reason and its number after a failure of the system.
    /// - Throws: the error that stops the waiting code, or that of a failure.
    func read(_ formats: [InputBuffer.Format], for call: LuaCall, raises: Bool = false) throws -> LuaResults {
        // Most reads are of a line that is there.
        if reads.isEmpty, formats.count < 2, formats.first != .number,
            case .bytes(let bytes) = buffer.take(formats.first ?? .line(keepsEnd: false), isAtEnd: false)
        {
            return bytes.withUnsafeBytes { call.returns(bytes: $0) }
        }
        let read = Read(formats, raises: raises)
        if reads.isEmpty, advance(read) || (lend == nil && readAtOnce(for: read)) {
            return try Self.results(read, call)
        }
        try lifeCycle.saver.settle()
        read.task = runtime.scheduler.current
        return try runtime.scheduler.wait(for: call) { [unowned self] resume in
            read.resume = { resume { try Self.results(read, $0) } }
            begin(read)
            return { [weak self] in self?.forget(read) }
        }
    }

    /// Reads for a function of the host, which waits in place.
    ///
    /// - Parameter count: the number of bytes; fewer come at the end of the input.
    /// - Returns: the bytes; none at the end.
    /// - Throws: `FileError`, or the error that stops the waiting code.
    func readInPlace(_ count: Int) throws -> ArraySlice<UInt8> {
        let read = Read([.count(count)], raises: true)
        if !reads.isEmpty || !(advance(read) || (lend == nil && readAtOnce(for: read))) {
            runtime.output.flush()
            read.task = runtime.scheduler.current
            try runtime.scheduler.waitInPlace { resume in
                read.resume = resume
                begin(read)
                return { [weak self] in self?.forget(read) }
            }
        }
        if let error = read.failure { throw error }
        guard case .bytes(let bytes)? = read.values.first else { return [] }
        return bytes
    }

    /// Moves the position, behind what scripts have taken.
    func seek(_ offset: Int, _ whence: Int32) throws(FileError) -> Int {
        let ahead = whence == SEEK_CUR ? buffer.count : 0
        let position = lseek(descriptor, off_t(offset &- ahead), whence)
        if position < 0 { throw FileError(.read, "standard input", code: errno) }
        buffer = InputBuffer()
        return Int(position)
    }

    /// Takes what the buffer has; whether the read is complete.
    private func advance(_ read: Read, isAtEnd: Bool = false) -> Bool {
        while let format = read.formats.first {
            let taken = buffer.take(format, isAtEnd: isAtEnd)
            if taken == .needsMore { return false }
            read.formats.removeFirst()
            read.values.append(taken)
            // Lua stops at the first failure.
            switch taken {
            case .nothing: read.formats = []
            case .numeral(let text) where runtime.state.number(ofNumeral: text) == nil: read.formats = []
            default: break
            }
        }
        return true
    }

    private static func results(_ read: Read, _ call: LuaCall) throws -> LuaResults {
        if let error = read.failure {
            guard let error = error as? FileError, !read.raises else { throw error }
            return try call.returns(values: [.nil, .text(error.reason), .integer(Int64(error.code))])
        }
        if read.values.count == 1, case .bytes(let bytes)? = read.values.first {
            return bytes.withUnsafeBytes { call.returns(bytes: $0) }
        }
        return try call.returns(
            values: read.values.map { value in
                switch value {
                case .bytes(let bytes): .string(LuaString(Array(bytes)))
                case .numeral(let text): call.state.number(ofNumeral: text) ?? .nil
                case .nothing, .needsMore: .nil
                }
            })
    }

    /// Reads what is there already, from a file or a pipe; whether the read is complete.
    private func readAtOnce(for read: Read) -> Bool {
        guard terminal.jobState == .headless else { return false }
        for _ in 0..<Self.greed {
            var input = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            guard poll(&input, 1, 0) > 0 else { return false }
            if take(.readable, for: read) { return true }
        }
        return false
    }

    /// Reads a piece for a read; whether that is complete.
    private func take(_ ready: ReadyEvents, for read: Read) -> Bool {
        // The bytes of a long line, or of everything, count as the script's that reads them.
        guard buffer.count < runtime.state.memory.limit ?? .max,
            (runtime.scheduler.memory?.capacity() ?? .max) > Self.chunk
        else {
            read.failure = LuaError(.memory, "not enough memory")
            return true
        }
        let (count, code) = withUnsafeTemporaryAllocation(byteCount: Self.chunk, alignment: 1) { space in
            let count = Glibc.read(descriptor, space.baseAddress, space.count)
            let code = errno
            if count > 0 { buffer.append(space[..<count]) }
            return (count, code)
        }
        if count > 0 { return advance(read) }
        switch InputEnd.classify(count: count, code: code, ready: ready, jobState: terminal.jobState) {
        case .notYet: return false
        case .endOfInput: return advance(read, isAtEnd: true)
        case .hangUp where count == 0: return advance(read, isAtEnd: true)
        case .hangUp, .inBackground: read.failure = FileError(.read, "standard input", code: EIO)
        case .failure(let error): read.failure = error
        }
        return true
    }

    // MARK: Waiting

    private func begin(_ read: Read) {
        reads.append(read)
        update()
        // Not within the registration: the stop runs handlers.
        runtime.loop.urgently { [weak self] in self?.checkJobState() }
    }

    /// Watches the input while reads wait for it.
    private func update() {
        if reads.isEmpty, let watch {
            watch.cancel()
            self.watch = nil
            takeBack()
        } else if !reads.isEmpty, pauses == 0, watch == nil {
            lend?()
            watch = runtime.loop.watch(descriptor) { [unowned self] ready in readable(ready) }
        }
        watch?.events = pauses > 0 ? [] : .readable
    }

    private func readable(_ ready: ReadyEvents) {
        guard let read = reads.first, !checkJobState(), take(ready, for: read) else { return }
        forget(read)
        read.resume()
    }

    private func forget(_ read: Read) {
        reads.removeAll { $0 === read }
        update()
        // What came with the last line may be all that the next read needs.
        if !reads.isEmpty { runtime.loop.urgently { [weak self] in self?.resume() } }
    }

    private func resume() {
        guard let read = reads.first, pauses == 0, advance(read) else { return }
        forget(read)
        read.resume()
    }

    /// Ctrl-C while nothing else runs: ends the first read that waits, and its script.
    func interrupt() -> Bool {
        guard let task = reads.first?.task else { return false }
        runtime.scheduler.requestCancel(task)
        return true
    }

    // MARK: Job control

    /// Whether the process could not be stopped in the background: then a read fails there.
    private var isUnstoppable = false

    /// Whether a read waits for the terminal in the background, which stops the process.
    var waitsInBackground: Bool {
        guard !reads.isEmpty, terminal.jobState == .background else {
            isUnstoppable = false
            return false
        }
        return !isUnstoppable && handlesSignals && runtime.status.exitCode == nil
    }

    /// Stops the process if a read waits for the terminal in the background; whether it did.
    @discardableResult
    func checkJobState() -> Bool {
        guard waitsInBackground else { return false }
        lifeCycle.handle(.suspend, cause: .terminal)
        return true
    }

    /// Called after such a stop.
    func didStop(_ outcome: SignalSource.Stop) {
        guard outcome == .impossible else { return }
        isUnstoppable = true
        runtime.loop.urgently { [weak self] in self?.readable(.readable) }
    }
}

/// Bytes that were read and not yet taken, as the reading functions of Lua take them.
///
/// Does no input: whoever has it appends bytes, and asks again when a format needs more of them.
package struct InputBuffer {
    /// What a format asks for.
    package enum Format: Equatable {
        /// A line, with or without its end.
        case line(keepsEnd: Bool)
        /// Everything up to the end of the input.
        case all
        /// A numeral.
        case number
        /// A number of bytes, or fewer at the end of the input; 0 asks whether there are more.
        case count(Int)
    }

    package enum Taken: Equatable {
        case needsMore
        /// The input has ended, or is not a numeral.
        case nothing
        case bytes(ArraySlice<UInt8>)
        case numeral([UInt8])
    }

    /// Lua's limit for the length of a numeral.
    private static let numeralLimit = 200

    private var bytes: [UInt8] = []
    private var head = 0
    /// The bytes from the head on that hold no line end.
    private var searched = 0

    package init() {}

    package var count: Int { bytes.count - head }

    package mutating func append(_ more: some Collection<UInt8>) {
        if head == bytes.count {
            bytes.removeAll(keepingCapacity: bytes.count < 1 << 20)
            head = 0
        } else if head > bytes.count / 2 {
            bytes.removeFirst(head)
            head = 0
        }
        bytes.append(contentsOf: more)
    }

    /// Takes all bytes.
    package mutating func takeRest() -> ArraySlice<UInt8> { take(count) }

    /// Takes what a format asks for.
    ///
    /// - Parameters:
    ///   - format: the format.
    ///   - isAtEnd: whether no more bytes will come: then it never needs more.
    /// - Returns: what it has taken.
    package mutating func take(_ format: Format, isAtEnd: Bool) -> Taken {
        switch format {
        case .line(let keepsEnd): return takeLine(keepsEnd: keepsEnd, isAtEnd: isAtEnd)
        case .all: return isAtEnd ? .bytes(take(count)) : .needsMore
        case .count(let wanted):
            if count >= max(wanted, 1) { return .bytes(take(wanted)) }
            guard isAtEnd else { return .needsMore }
            return count == 0 ? .nothing : .bytes(take(count))
        case .number: return takeNumeral(isAtEnd: isAtEnd)
        }
    }

    private mutating func take(_ length: Int) -> ArraySlice<UInt8> {
        defer { (head, searched) = (head + length, 0) }
        return bytes[head..<head + length]
    }

    private mutating func takeLine(keepsEnd: Bool, isAtEnd: Bool) -> Taken {
        if let end = bytes[(head + searched)...].firstIndex(of: 0x0A) {
            let line = take(end - head + 1)
            return .bytes(keepsEnd ? line : line.dropLast())
        }
        guard isAtEnd else {
            searched = count
            return .needsMore
        }
        return count == 0 ? .nothing : .bytes(take(count))
    }

    /// The longest beginning of a numeral, whether or not it is one, as Lua takes it.
    private mutating func takeNumeral(isAtEnd: Bool) -> Taken {
        while head < bytes.count, bytes[head] == 0x20 || (0x09...0x0D).contains(bytes[head]) { _ = take(1) }
        var scan = NumeralScan(bytes: bytes[head...], limit: Self.numeralLimit)
        scan.run()
        if scan.isOpen, !isAtEnd { return .needsMore }
        let text = Array(take(scan.length))
        return scan.isTooLong || text.isEmpty ? .nothing : .numeral(text)
    }
}

/// Finds the end of a numeral.
private struct NumeralScan {
    let bytes: ArraySlice<UInt8>
    let limit: Int
    var length = 0
    /// Whether the bytes end before the numeral does.
    var isOpen = false
    var isTooLong = false

    mutating func run() {
        _ = take("+-")
        var digits = 0
        var isHexadecimal = false
        if take("0") {
            if take("xX") { isHexadecimal = true } else { digits = 1 }
        }
        digits += takeDigits(isHexadecimal)
        if take(".") { digits += takeDigits(isHexadecimal) }
        if digits > 0, take(isHexadecimal ? "pP" : "eE") {
            _ = take("+-")
            _ = takeDigits(false)
        }
    }

    private var next: UInt8? {
        mutating get {
            let place = bytes.startIndex + length
            if place < bytes.endIndex { return bytes[place] }
            isOpen = true
            return nil
        }
    }

    private mutating func advance() -> Bool {
        isTooLong = length >= limit
        if !isTooLong { length += 1 }
        return !isTooLong
    }

    private mutating func take(_ one: StaticString) -> Bool {
        guard let next, one.withUTF8Buffer({ $0.contains(next) }) else { return false }
        return advance()
    }

    private mutating func takeDigits(_ isHexadecimal: Bool) -> Int {
        let start = length
        while let next {
            let letter = next | 0x20
            let isDigit = (0x30...0x39).contains(next) || (isHexadecimal && (0x61...0x66).contains(letter))
            guard isDigit, advance() else { break }
        }
        return length - start
    }
}
