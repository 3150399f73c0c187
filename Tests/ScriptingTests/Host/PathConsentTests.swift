import Scripting
import Testing

@Suite("Answers to the question whether a script may") struct PathConsentTests {
    @Test(
        "the words that the question names, and no others",
        arguments: [
            ("y", .yes), ("Yes", .yes), (" yes\r", .yes), ("f", .folder), ("FOLDER", .folder), ("n", .no), ("No ", .no),
            ("", nil), ("yikes, no!", nil), ("yes please", nil), ("y e s", nil), ("ye", nil), ("fn", nil), ("1", nil),
            ("да", nil), ("y\u{0}", nil),
        ] as [(String, PathConsent?)])
    func answers(text: String, answer: PathConsent?) {
        #expect(PathConsent(answer: text) == answer)
    }
}
