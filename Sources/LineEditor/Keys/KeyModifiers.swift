/// The modifiers of a key, in xterm's encoding (the parameter minus one).
public struct KeyModifiers: OptionSet, Hashable, Sendable {
    public let rawValue: UInt8

    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Shift.
    public static let shift = KeyModifiers(rawValue: 1)
    /// Alt, or Escape before the key.
    public static let alt = KeyModifiers(rawValue: 2)
    /// Control.
    public static let control = KeyModifiers(rawValue: 4)
    /// Super, Hyper or Meta, which only the kitty keyboard protocol reports.
    public static let command = KeyModifiers(rawValue: 8)

    /// Decodes the parameter of a control sequence, which is the bits plus one; Caps Lock and Num Lock are ignored.
    init(parameter: Int) {
        let bits = parameter > 0 ? parameter - 1 : 0
        var result: KeyModifiers = []
        if bits & 1 != 0 { result.insert(.shift) }
        if bits & 2 != 0 { result.insert(.alt) }
        if bits & 4 != 0 { result.insert(.control) }
        if bits & 0b11_1000 != 0 { result.insert(.command) }
        self = result
    }
}
