import Wording

/// The display form of a character: itself, or a substitute where a terminal would interpret it or show nothing.
enum DisplayForm: Equatable {
    /// The character itself, with its columns.
    case itself(Int)
    /// A substitute, whose characters have one column each.
    case substitute(String)

    /// Columns between tab stops, counted from the beginning of the text of a line.
    static let tabStop = 4

    init(_ character: Character, atColumn column: Int) {
        let width = DisplayWidth.of(character)
        if width > 0 {
            self = .itself(width)
            return
        }
        guard let scalar = character.unicodeScalars.first else {
            self = .itself(0)
            return
        }
        switch scalar.value {
        case 0x09:
            self = .substitute(String(repeating: " ", count: Self.tabStop - column % Self.tabStop))
        case 0..<0x20:
            self = .substitute("^" + String(Character(Unicode.Scalar(UInt8(scalar.value) + 0x40))))
        case 0x7F:
            self = .substitute("^?")
        default:
            switch scalar.properties.generalCategory {
            case .nonspacingMark, .enclosingMark, .spacingMark:
                // A combining mark without a base is shown on Unicode's dotted circle.
                self = .substitute("\u{25CC}" + String(character))
            default:
                self = .substitute("<" + String(scalar.value, radix: 16, uppercase: true) + ">")
            }
        }
    }

    static func width(of character: Character, atColumn column: Int) -> Int {
        switch DisplayForm(character, atColumn: column) {
        case .itself(let width): width
        case .substitute(let text): text.count
        }
    }
}
