/// The difference of a local time from UTC at a moment.
package struct UTCOffset: Sendable, Hashable {
    /// Seconds east of UTC; less than 26 hours either way.
    package var seconds: Int
    /// The local time's abbreviation, such as `CEST`, or the offset if there is none.
    package var abbreviation: String
    /// Whether it is summer time.
    package var isDaylight: Bool

    package init(seconds: Int, abbreviation: String? = nil, isDaylight: Bool = false) {
        self.seconds = seconds
        self.abbreviation = abbreviation ?? Self.text(seconds, ":")
        self.isDaylight = isDaylight
    }

    package static let utc = UTCOffset(seconds: 0, abbreviation: "UTC")

    /// `+0100`, the notation of NSDate's description.
    package var text: String { Self.text(seconds) }

    /// `+01:00`, with seconds if there are any.
    package static func text(_ seconds: Int, _ separator: String = "") -> String {
        func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let size = abs(seconds)
        let minutes = two(size / 3600) + separator + two(size / 60 % 60)
        return (seconds < 0 ? "-" : "+") + minutes + (size % 60 == 0 ? "" : separator + two(size % 60))
    }
}
