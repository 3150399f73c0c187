import Foundation
import Images
import Testing

/// The same little picture in many formats, 64×32: red and blue halves, upper and lower, written by libvips 8.14.
///
/// Upper left (220, 40, 60), upper right (30, 40, 60), lower left (220, 200, 60), lower right (30, 200, 60).
enum Samples {
    static let width = 64
    static let height = 32

    struct Sample: CustomTestStringConvertible {
        var name: String
        var format: ImageFormat
        var bytes: [UInt8]

        var testDescription: String { name }

        init(_ name: String, _ format: ImageFormat, _ base64: String) {
            self.name = name
            self.format = format
            bytes = [UInt8](Data(base64Encoded: base64) ?? Data())
        }
    }

    static let all = [
        Sample(
            "webp", .webp,
            "UklGRjoBAABXRUJQVlA4WAoAAAAIAAAAPwAAHwAAVlA4IFoAAAAQBACdASpAACAAPqFAmEmmJCKhN/1YAMAUCWQAvNHAKz8CC4AQ"
                + "v2fQ7AD+6Di9/U9Gp3/z379hfYW+Pjf892VQtfbavgUf0ih8yt7XXrmJGh5DyEG8xUQAAABFWElGugAAAEV4aWYAAElJKgAIAAAA"
                + "BgASAQMAAQAAAAEAAAAaAQUAAQAAAFYAAAAbAQUAAQAAAF4AAAAoAQMAAQAAAAIAAAATAgMAAQAAAAEAAABphwQAAQAAAGYAAAAA"
                + "AAAAOGMAAOgDAAA4YwAA6AMAAAYAAJAHAAQAAAAwMjEwAZEHAAQAAAABAgMAAKAHAAQAAAAwMTAwAaADAAEAAAD//wAAAqAEAAEA"
                + "AABAAAAAA6AEAAEAAAAgAAAAAAAAAA=="),
        Sample(
            "heic", .heic,
            "AAAAHGZ0eXBoZWljAAAAAG1pZjFoZWljbWlhZgAAAa1tZXRhAAAAAAAAACFoZGxyAAAAAAAAAABwaWN0AAAAAAAAAAAAAAAAAAAA"
                + "AA5waXRtAAAAAAACAAAAEGlkYXQAAAAAAEAAIAAAADhpbG9jAQAAAERAAAIAAQAAAAAAAAHRAAEAAAAAAAAAhAACAAEAAAAAAAAA"
                + "AQAAAAAAAAAIAAAAOGlpbmYAAAAAAAIAAAAVaW5mZQIAAAEAAQAAaHZjMQAAAAAVaW5mZQIAAAAAAgAAZ3JpZAAAAADYaXBycAAA"
                + "ALZpcGNvAAAAdmh2Y0MBA3AAAAAAAAAAAAAe8AD8/fj4AAAPAyAAAQAYQAEMAf//A3AAAAMAkAAAAwAAAwAeugJAIQABACpCAQED"
                + "cAAAAwCQAAADAAADAB6gIIEFlurkprm4EBAwIAAAAwAgAAADACEiAAEABkQBwXPAiQAAABRpc3BlAAAAAAAAAEAAAABAAAAAFGlz"
                + "cGUAAAAAAAAAQAAAACAAAAAQcGl4aQAAAAADCAgIAAAAGmlwbWEAAAAAAAAAAgABAoECAAICA4QAAAAaaXJlZgAAAAAAAAAOZGlt"
                + "ZwACAAEAAQAAAIxtZGF0AAAAgCgBrxOAeNZTSAv/90U1/wrE/7wybhEi/xywf/iIG/6LKYfcK46GwGoDugffKsyCUyPYTyW46NZB"
                + "V6m//kIxY5MVf8dNjF+k/9umt9G/futhouTQeSEC86JbkX5NmDlWtkDLkcvTP/3OwXiDMZtklrZ/3yT6TH4f2KvCmVX/z54j"),
        Sample(
            "avif", .avif,
            "AAAAHGZ0eXBhdmlmAAAAAGF2aWZtaWYxbWlhZgAAAOptZXRhAAAAAAAAACFoZGxyAAAAAAAAAABwaWN0AAAAAAAAAAAAAAAAAAAA"
                + "AA5waXRtAAAAAAABAAAAImlsb2MAAAAAREAAAQABAAAAAAEOAAEAAAAAAAAAMwAAACNpaW5mAAAAAAABAAAAFWluZmUCAAAAAAEA"
                + "AGF2MDEAAAAAamlwcnAAAABLaXBjbwAAABNjb2xybmNseAACAAIABoAAAAAMYXYxQ4EADAAAAAAUaXNwZQAAAAAAAABAAAAAIAAA"
                + "ABBwaXhpAAAAAAMICAgAAAAXaXBtYQAAAAAAAAABAAEEgYIDhAAAADttZGF0EgAKCRgVP/sECAgaEDIkGAAAAEDePDJIESvQFN5s"
                + "D1VDU7D2QXJqErQm0RCUHFBNgMuA"),
        Sample(
            "gif", .gif,
            "R0lGODlhQAAgAIIAAEdwTNzIPB7IPNwoPB4oPAAAAAAAAAAAACH/C05FVFNDQVBFMi4wAwEAAAAh+QQFAAAAACwAAAAAQAAgAAAD"
                + "kji63P6MyEmrvRTq3bD/FSdqYOmNaGeuWeqyMOG+8TqntX2PubnzPdBPFBQON8XPEZnELEnNyxMSlU4dVcsVm6UEvuCweEwOC87o"
                + "tHrNTpffcHF7TlfH7++6fo7vy/eAbn6DgYUCg4SGgIh+iouMeI57kJGSdZR3lpeYcJp0nJ2ebaB5omykZaanqGOqa6ytrmkJADs="
        ),
        Sample(
            "tiff", .tiff,
            "SUkqAFgAAAB4nO3OQQ2AQBDAwJWDCF6oR8SKwcH87kHSEdB0r3tOeo7WZ7Z/6t/6t/6tf+vf+rf+rX/r3/btX/q3/q1/69/6t/6t"
                + "f+vf+re//3/gfzpBABAAAAEDAAEAAABAAAAAAQEDAAEAAAAgAAAAAgEDAAMAAAAuAQAAAwEDAAEAAAAIAAAABgEDAAEAAAACAAAA"
                + "EQEEAAEAAAAIAAAAEgEDAAEAAAABAAAAFQEDAAEAAAADAAAAFgEDAAEAAACAAAAAFwEEAAEAAABPAAAAGgEFAAEAAAAeAQAAGwEF"
                + "AAEAAAAmAQAAHAEDAAEAAAABAAAAKAEDAAEAAAADAAAAPQEDAAEAAAACAAAAUwEDAAMAAAA0AQAAAAAAAAoAAAABAAAACgAAAAEA"
                + "AAAIAAgACAABAAEAAQA="),
        Sample(
            "cmykJPEG", .jpeg,
            "/9j/7gAOQWRvYmUAZAAAAAAA/9sAQwANCQoLCggNCwoLDg4NDxMgFRMSEhMnHB4XIC4pMTAuKS0sMzpKPjM2RjcsLUBXQUZMTlJT"
                + "UjI+WmFaUGBKUVJP/8AAFAgAIABABEMRAE0RAFkRAEsRAP/EAB8AAAEFAQEBAQEBAAAAAAAAAAABAgMEBQYHCAkKC//EALUQAAIB"
                + "AwMCBAMFBQQEAAABfQECAwAEEQUSITFBBhNRYQcicRQygZGhCCNCscEVUtHwJDNicoIJChYXGBkaJSYnKCkqNDU2Nzg5OkNERUZH"
                + "SElKU1RVVldYWVpjZGVmZ2hpanN0dXZ3eHl6g4SFhoeIiYqSk5SVlpeYmZqio6Slpqeoqaqys7S1tre4ubrCw8TFxsfIycrS09TV"
                + "1tfY2drh4uPk5ebn6Onq8fLz9PX29/j5+v/aAA4EQwBNAFkASwAAPwD06uArk69Cooooooooooooria9pr0evDqKKKKKKKKKKKK7"
                + "avFq84r3GiiiiiiiiiiiiuJr2mvR68Ooooooooooooorpq368qr3GiiiiiiiiiiiivNqlrOq5RRRRRRRRRRRRXpNRVo1Tooooooo"
                + "ooooorzapazquUUUUUUUUUUUUV//2Q=="),
        Sample(
            "deepPNG", .png,
            "iVBORw0KGgoAAAANSUhEUgAAAEAAAAAgEAIAAAB9bzWQAAAACXBIWXMAAAPoAAAD6AG1e1JrAAAAjElEQVRoge3RMQ3AMBTE0I8k"
                + "c0GUvwIiYBoVhS15efud58wz73hdchEnFkAs4cQCiEWcWACxhBMLIBZxYgHEEk4sgFjEiQUQSzixAGIRJxZALOHEAoi9M/Y/xuqS"
                + "izixAGIJJxZALOLEAoglnFgAsYgTCyCWcGIBxCJOLIBYwokFEIs4sQBiCScWQOwHQwqIiBUHeRIAAAAASUVORK5CYII="),
        Sample(
            "greyJPEG", .jpeg,
            "/9j/2wBDAA0JCgsKCA0LCgsODg0PEyAVExISEyccHhcgLikxMC4pLSwzOko+MzZGNywtQFdBRkxOUlNSMj5aYVpQYEpRUk//wAAL"
                + "CAAgAEABAREA/8QAHwAAAQUBAQEBAQEAAAAAAAAAAAECAwQFBgcICQoL/8QAtRAAAgEDAwIEAwUFBAQAAAF9AQIDAAQRBRIhMUEG"
                + "E1FhByJxFDKBkaEII0KxwRVS0fAkM2JyggkKFhcYGRolJicoKSo0NTY3ODk6Q0RFRkdISUpTVFVWV1hZWmNkZWZnaGlqc3R1dnd4"
                + "eXqDhIWGh4iJipKTlJWWl5iZmqKjpKWmp6ipqrKztLW2t7i5usLDxMXGx8jJytLT1NXW19jZ2uHi4+Tl5ufo6erx8vP09fb3+Pn6"
                + "/9oACAEBAAA/AKtFFFcnRRRXWUUUVydFFFewUUUVQoooq/RRRVCiiiv/2Q=="),
    ]

    /// One of them by its name.
    static func bytes(_ name: String) -> [UInt8] {
        all.first { $0.name == name }?.bytes ?? []
    }
}
