extension Int {
    /// The number with commas between its thousands.
    package var grouped: String {
        var text = String(self)
        let digits = self < 0 ? text.utf8.count - 1 : text.utf8.count
        for place in stride(from: 3, to: digits, by: 3) {
            text.insert(",", at: text.index(text.endIndex, offsetBy: -place - (place / 3 - 1)))
        }
        return text
    }
}
