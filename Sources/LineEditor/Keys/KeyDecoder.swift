/// Decodes the bytes of a terminal into keys.
///
/// Decodes the sequences of xterm, tmux, rxvt, the Linux console and the kitty keyboard protocol. Input may be split
/// anywhere; incomplete sequences are kept. A lone Escape is a prefix of other sequences: while ``isWaiting`` is true,
/// the reader waits 25 to 50 ms and then calls ``flush()``.
///
/// No input traps or uses more than ``maximumPaste`` bytes: a sequence without an end is dropped.
package struct KeyDecoder: Sendable {
    /// Maximum size of a paste in bytes; the rest is dropped.
    package static let maximumPaste = 64 << 20
    private static let maximumSequence = 256
    private static let maximumString = 64 << 10

    private var pending: [UInt8] = []
    private var position = 0
    private var paste: [UInt8]?
    /// Whether the last key was a carriage return among other bytes: a line feed after it belongs to the same line end.
    private var endsWithReturn = false

    package init() {}

    /// Whether pending bytes may be a complete key: call ``flush()`` if no more come soon. The first bytes of a
    /// character are none: they wait for the others.
    package var isWaiting: Bool {
        guard paste == nil, let last = pending.last else { return false }
        return last < 0x80
            || pending.count > 2
                && pending.starts(with: [0x1B]) && [0x5D, 0x50, 0x5F, 0x5E].contains(pending[1])
    }

    /// Decodes bytes and returns the complete keys. Complexity: linear in the bytes.
    package mutating func decode(_ bytes: some Sequence<UInt8>) -> [EditorKey] {
        let waiting = pending.count
        pending.append(contentsOf: bytes)
        if endsWithReturn, pending.first == 0x0A { pending.removeFirst() }
        endsWithReturn = pending.count > 1 && pending.last == 0x0D
        var keys: [EditorKey] = []
        abortPaste(waiting, into: &keys)
        run(flushing: false, into: &keys)
        return keys
    }

    /// Decodes the pending bytes as complete: a lone Escape, `ESC [` as Alt-[. A paste stays open.
    package mutating func flush() -> [EditorKey] {
        guard paste == nil else { return [] }
        var keys: [EditorKey] = []
        run(flushing: true, into: &keys)
        return keys
    }

    private mutating func run(flushing: Bool, into keys: inout [EditorKey]) {
        position = 0
        while position < pending.count {
            if paste != nil {
                guard takePaste(into: &keys) else { break }
                continue
            }
            guard let (meaning, length) = next(flushing: flushing) else { break }
            position += length
            switch meaning {
            case .key(let key): keys.append(key)
            case .pasteBegins: paste = []
            case .nothing: break
            }
        }
        pending.removeFirst(min(position, pending.count))
        position = 0
    }

    // MARK: Paste

    private static let pasteEnd: [UInt8] = Array("\u{1B}[201~".utf8)

    /// Control-C alone ends a paste whose end was lost or cut; otherwise all further keys would be lost.
    private mutating func abortPaste(_ waiting: Int, into keys: inout [EditorKey]) {
        guard let text = paste, pending.count > waiting, pending[waiting...].allSatisfy({ $0 == 0x03 }) else { return }
        keys.append(.paste(String(decoding: text, as: UTF8.self)))
        pending.removeFirst(waiting)
        paste = nil
    }

    /// Moves bytes to the paste; false before its end.
    private mutating func takePaste(into keys: inout [EditorKey]) -> Bool {
        let end = Self.pasteEnd
        var text = paste ?? []
        paste = nil
        var index = position
        while index < pending.count {
            if pending[index] == 0x1B {
                let available = min(end.count, pending.count - index)
                if pending[index..<index + available].elementsEqual(end[..<available]) {
                    guard available == end.count else { break }
                    keys.append(.paste(String(decoding: text, as: UTF8.self)))
                    position = index + end.count
                    return true
                }
            }
            if text.count < Self.maximumPaste { text.append(pending[index]) }
            index += 1
        }
        paste = text
        position = index
        return false
    }

    // MARK: One key

    /// What the next bytes mean, and how many they are; nil when more bytes are needed.
    private typealias Step = (meaning: ControlSequence.Meaning, length: Int)?

    private func byte(_ offset: Int) -> UInt8? {
        let index = position + offset
        return index < pending.count ? pending[index] : nil
    }

    private func next(flushing: Bool) -> Step {
        guard byte(0) == 0x1B else { return plain(at: 0, modifiers: []) }
        guard let second = byte(1) else {
            return flushing ? (.key(.press(.escape)), 1) : nil
        }
        switch second {
        case 0x5B: return controlSequence(at: 2, extra: [], flushing: flushing)
        case 0x4F: return singleShift(at: 2, extra: [], flushing: flushing)
        case 0x5D, 0x50, 0x5F, 0x5E: return string(flushing: flushing)
        case 0x1B:
            // rxvt, and Alt with a function key: ESC precedes the key's own sequence.
            switch byte(2) {
            case 0x5B: return controlSequence(at: 3, extra: .alt, flushing: flushing)
            case 0x4F: return singleShift(at: 3, extra: .alt, flushing: flushing)
            case nil where !flushing: return nil
            default: return (.key(.press(.escape)), 1)
            }
        default: return plain(at: 1, modifiers: .alt)
        }
    }

    /// A character or a control code, with Alt after an Escape.
    private func plain(at offset: Int, modifiers: KeyModifiers) -> Step {
        guard let first = byte(offset) else { return nil }
        switch first {
        // Both together, in a paste without marks, are one line end.
        case 0x0D where byte(offset + 1) == 0x0A: return (.key(.press(.enter, modifiers)), offset + 2)
        case 0x0D, 0x0A: return (.key(.press(.enter, modifiers)), offset + 1)
        case 0x09: return (.key(.press(.tab, modifiers)), offset + 1)
        case 0x7F, 0x08: return (.key(.press(.backspace, modifiers)), offset + 1)
        case 0x00: return (.key(.press(.character(" "), modifiers.union(.control))), offset + 1)
        case 0x01...0x1A:
            let letter = Character(Unicode.Scalar(first + 0x60))
            return (.key(.press(.character(letter), modifiers.union(.control))), offset + 1)
        case 0x1C...0x1F:
            let symbol = Character(Unicode.Scalar(first + 0x40))
            return (.key(.press(.character(symbol), modifiers.union(.control))), offset + 1)
        case 0x20...0x7E:
            return (.key(.press(.character(Character(Unicode.Scalar(first))), modifiers)), offset + 1)
        default: return multibyte(first, at: offset, modifiers: modifiers)
        }
    }

    private func multibyte(_ first: UInt8, at offset: Int, modifiers: KeyModifiers) -> Step {
        let replacement = EditorKey.press(.character("\u{FFFD}"), modifiers)
        let length: Int
        switch first {
        case 0xC2...0xDF: length = 2
        case 0xE0...0xEF: length = 3
        case 0xF0...0xF4: length = 4
        default: return (.key(replacement), offset + 1)
        }
        for index in 1..<length {
            // The rest may come late, over a slow line.
            guard let following = byte(offset + index) else { return nil }
            guard following & 0xC0 == 0x80 else { return (.key(replacement), offset + index) }
        }
        let start = position + offset
        guard let text = String(validating: pending[start..<start + length], as: UTF8.self), let character = text.first
        else { return (.key(replacement), offset + length) }
        return (.key(.press(.character(character), modifiers)), offset + length)
    }

    private func singleShift(at offset: Int, extra: KeyModifiers, flushing: Bool) -> Step {
        guard let final = byte(offset) else {
            return flushing ? (.key(.press(.character("O"), .alt)), offset) : nil
        }
        guard let (code, modifiers) = ControlSequence.singleShift(final) else {
            // Not a sequence: Alt-O, followed by another key.
            return (.key(.press(.character("O"), .alt)), offset)
        }
        return (.key(.press(code, modifiers.union(extra))), offset + 1)
    }

    private func controlSequence(at offset: Int, extra: KeyModifiers, flushing: Bool) -> Step {
        // The Linux console sends ESC [ [ A to E for F1 to F5.
        if byte(offset) == 0x5B {
            guard let letter = byte(offset + 1) else {
                return flushing ? (.key(.press(.character("["), .alt)), offset) : nil
            }
            guard (0x41...0x45).contains(letter) else { return (.nothing, offset + 1) }
            return (.key(.press(.function(Int(letter) - 0x40), extra)), offset + 2)
        }
        var end = offset
        while let next = byte(end), (0x20...0x3F).contains(next) {
            // rxvt ends a shifted key with a dollar sign, which the standard does not allow as a final byte.
            if next == 0x24, end > offset, let first = byte(offset), (0x30...0x39).contains(first) { break }
            end += 1
            if end - offset > Self.maximumSequence { return (.nothing, end) }
        }
        guard let final = byte(end) else {
            guard flushing else { return nil }
            return end == offset ? (.key(.press(.character("["), .alt)), offset) : (.nothing, end)
        }
        // Any other byte begins a new sequence.
        guard (0x40...0x7E).contains(final) || final == 0x24 else { return (.nothing, end) }
        if final == 0x4D, end == offset {
            // The oldest mouse encoding: three bytes follow.
            guard byte(end + 3) != nil else { return flushing ? (.nothing, pending.count - position) : nil }
            return (.nothing, end + 4)
        }
        let body = pending[position + offset..<position + end]
        let meaning = ControlSequence(body: body, final: final).meaning
        guard case .key(.press(let code, let modifiers)) = meaning else { return (meaning, end + 1) }
        return (.key(.press(code, modifiers.union(extra))), end + 1)
    }

    /// OSC, DCS, APC and PM: up to BEL or `ESC \`.
    private func string(flushing: Bool) -> Step {
        guard let introducer = byte(1) else { return nil }
        var index = 2
        while let next = byte(index) {
            if next == 0x07 || next == 0x9C && introducer != 0x5D {
                return (.key(stringReport(introducer, 2..<index)), index + 1)
            }
            if next == 0x1B {
                guard let following = byte(index + 1) else { return flushing ? (.nothing, index) : nil }
                guard following == 0x5C else { return (.nothing, index) }
                return (.key(stringReport(introducer, 2..<index)), index + 2)
            }
            index += 1
            if index > Self.maximumString { return (.nothing, index) }
        }
        guard flushing else { return nil }
        // A typed Alt-] ends here; otherwise it is a truncated answer of the terminal, which is dropped.
        guard index == 2 else { return (.nothing, index) }
        let character = Character(Unicode.Scalar(introducer))
        return (.key(.press(.character(character), .alt)), 2)
    }

    private func stringReport(_ introducer: UInt8, _ range: Range<Int>) -> EditorKey {
        let bytes = Array(pending[position + range.lowerBound..<position + range.upperBound])
        return .report(TerminalReport(.string(introducer: introducer, bytes: bytes)))
    }
}
