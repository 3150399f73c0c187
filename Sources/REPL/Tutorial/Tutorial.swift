/// The progress in the lessons.
struct Tutorial {
    /// The current lesson, from 0.
    var lesson = 0
    /// The number of failed attempts at this lesson.
    var failures = 0

    var current: Lesson? { Lesson.all.indices.contains(lesson) ? Lesson.all[lesson] : nil }

    /// Advances to the next lesson.
    mutating func advance() {
        lesson += 1
        failures = 0
    }
}
