/// One complete control sequence, `ESC [` parameters final, and its meaning.
struct ControlSequence {
    enum Meaning: Equatable {
        case key(EditorKey)
        case pasteBegins
        case nothing
    }

    private let body: String
    private let marker: UInt8?
    /// The parameters with their sub-parameters, which the kitty protocol separates by colons.
    private let parameters: [[Int]]
    private let final: UInt8

    init(body bytes: some Collection<UInt8>, final: UInt8) {
        self.final = final
        body = String(decoding: bytes, as: UTF8.self)
        var rest = Array(bytes)
        if let first = rest.first, (0x3C...0x3F).contains(first) {
            marker = first
            rest.removeFirst()
        } else {
            marker = nil
        }
        parameters = rest.split(separator: 0x3B, omittingEmptySubsequences: false).map { part in
            part.split(separator: 0x3A, omittingEmptySubsequences: false).map { digits in
                var value = 0
                for digit in digits where (0x30...0x39).contains(digit) {
                    value = min(value * 10 + Int(digit - 0x30), 0x11_0000)
                }
                return value
            }
        }
    }

    private func parameter(_ index: Int, _ subIndex: Int = 0) -> Int {
        guard index < parameters.count, subIndex < parameters[index].count else { return 0 }
        return parameters[index][subIndex]
    }

    private var modifiers: KeyModifiers { KeyModifiers(parameter: parameter(1)) }

    /// Whether it is the kitty protocol's release event, which is ignored.
    private var isRelease: Bool { parameter(1, 1) == 3 }

    var meaning: Meaning {
        if marker != nil { return marked }
        if isRelease { return .nothing }
        switch final {
        case UInt8(ascii: "R") where parameters.count >= 2:
            return .key(.report(TerminalReport(.cursorPosition(row: parameter(0), column: parameter(1)))))
        case _ where Self.letterKeys[final] != nil: return press(Self.letterKeys[final])
        case UInt8(ascii: "a")...UInt8(ascii: "d"):
            return .key(.press(Self.letterKeys[final - 0x20] ?? .begin, .shift))
        case UInt8(ascii: "Z"): return .key(.press(.tab, modifiers.union(.shift)))
        case UInt8(ascii: "I"): return .key(.focus(true))
        case UInt8(ascii: "O"): return .key(.focus(false))
        case UInt8(ascii: "~"): return tilde
        case UInt8(ascii: "^"): return press(Self.numberKey(parameter(0)), .control)
        case UInt8(ascii: "$"): return press(Self.numberKey(parameter(0)), .shift)
        case UInt8(ascii: "@"): return press(Self.numberKey(parameter(0)), [.control, .shift])
        case UInt8(ascii: "u"): return codePoint(parameter(0), shifted: parameter(0, 1))
        case UInt8(ascii: "c"): return .key(.report(TerminalReport(.deviceAttributes(body))))
        default: return other
        }
    }

    private var marked: Meaning {
        switch (marker, final) {
        case (0x3F, UInt8(ascii: "u")): return .key(.report(TerminalReport(.keyboardFlags(parameter(0)))))
        case (_, UInt8(ascii: "c")): return .key(.report(TerminalReport(.deviceAttributes(body))))
        default: return other
        }
    }

    private var other: Meaning {
        .key(.report(TerminalReport(.controlSequence(body + String(Character(Unicode.Scalar(final)))))))
    }

    private func press(_ code: KeyCode?, _ held: KeyModifiers? = nil) -> Meaning {
        guard let code else { return other }
        return .key(.press(code, held ?? modifiers))
    }

    private var tilde: Meaning {
        switch parameter(0) {
        case 200: return .pasteBegins
        case 201: return .nothing
        case 27: return codePoint(parameter(2), shifted: 0)  // xterm's modifyOtherKeys
        default: return press(Self.numberKey(parameter(0)))
        }
    }

    /// A key by its code point, in the encodings of the kitty protocol and xterm's modifyOtherKeys.
    private func codePoint(_ value: Int, shifted: Int) -> Meaning {
        var held = modifiers
        switch value {
        case 13, 57414: return .key(.press(.enter, held))
        case 9: return .key(.press(.tab, held))
        case 127, 8: return .key(.press(.backspace, held))
        case 27: return .key(.press(.escape, held))
        case 57376...57398: return .key(.press(.function(value - 57376 + 13), held))
        case 57399...57408: return character(Unicode.Scalar(UInt8(value - 57399 + 0x30)), held)
        case 57409...57416:
            let signs: [Unicode.Scalar?] = [".", "/", "*", "-", "+", nil, "=", ","]
            guard let sign = signs[value - 57409] else { return .nothing }
            return character(sign, held)
        case 57417...57427:
            let keys: [KeyCode] = [
                .left, .right, .up, .down, .pageUp, .pageDown, .home, .end, .insert, .delete, .begin,
            ]
            return .key(.press(keys[value - 57417], held))
        case 57344...63743: return .nothing  // the modifiers themselves, media keys
        case 0..<32: return .nothing
        default: break
        }
        // The key's text, if the terminal reports it; else the shifted key, else the key.
        if held.isSubset(of: .shift) {
            let typed = parameter(2) > 31 ? parameter(2) : shifted > 31 ? shifted : value
            guard let scalar = Unicode.Scalar(UInt32(typed)) else { return .nothing }
            let text = typed == value && held.contains(.shift) ? scalar.properties.uppercaseMapping : String(scalar)
            guard let first = text.first else { return .nothing }
            return .key(.press(.character(first), []))
        }
        guard let scalar = Unicode.Scalar(UInt32(value)) else { return .nothing }
        if held.contains(.shift), shifted > 31, let upper = Unicode.Scalar(UInt32(shifted)) {
            held.remove(.shift)
            return character(upper, held)
        }
        return character(scalar, held)
    }

    private func character(_ scalar: Unicode.Scalar, _ held: KeyModifiers) -> Meaning {
        .key(.press(.character(Character(scalar)), held))
    }

    // MARK: Tables

    private static let letterKeys: [UInt8: KeyCode] = Dictionary(
        uniqueKeysWithValues: zip(
            "ABCDEFHPQRS".utf8,
            [
                .up, .down, .right, .left, .begin, .end, .home, .function(1), .function(2), .function(3), .function(4),
            ]))

    private static func numberKey(_ number: Int) -> KeyCode? {
        switch number {
        case 1, 7: .home
        case 2: .insert
        case 3: .delete
        case 4, 8: .end
        case 5: .pageUp
        case 6: .pageDown
        case 11...15: .function(number - 10)
        case 17...21: .function(number - 11)
        case 23...26: .function(number - 12)
        case 28, 29: .function(number - 13)
        case 31...34: .function(number - 14)
        default: nil
        }
    }

    /// `ESC O` and a letter: the keypad's application mode, and rxvt's arrows with Control.
    static func singleShift(_ final: UInt8) -> (KeyCode, KeyModifiers)? {
        switch final {
        case UInt8(ascii: "a")...UInt8(ascii: "d"): letterKeys[final - 0x20].map { ($0, .control) }
        case UInt8(ascii: "M"): (.enter, [])
        case UInt8(ascii: "j")...UInt8(ascii: "y"):
            // The keypad's signs and digits are encoded 64 above.
            (.character(Character(Unicode.Scalar(final - 0x40))), [])
        default: letterKeys[final].map { ($0, []) }
        }
    }
}
