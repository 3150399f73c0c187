/// Where somebody is in the lessons.
struct Tutorial {
    /// The lesson that is asked, from 0.
    var lesson = 0
    /// Tries of this lesson that did not do it.
    var failures = 0

    var current: Lesson? { Lesson.all.indices.contains(lesson) ? Lesson.all[lesson] : nil }

    /// Goes to the next lesson.
    mutating func advance() {
        lesson += 1
        failures = 0
    }
}
