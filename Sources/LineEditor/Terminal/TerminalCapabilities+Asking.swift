internal import Glibc

extension TerminalCapabilities {
    /// Asks the terminal and waits for its answers, at most for a quarter of a second: for a program that has no prompt
    /// among whose keys they would arrive. What is typed meanwhile is lost.
    ///
    /// - Parameters:
    ///   - input: a terminal's descriptor.
    ///   - output: where the questions go.
    ///   - environment: looks up a variable.
    /// - Returns: what it can do; nothing when it is no terminal, or not this process's to use.
    public static func ask(
        input: Int32 = 0, output: Int32 = 1, environment: (String) -> String?
    ) -> TerminalCapabilities {
        var capabilities = TerminalCapabilities()
        let questions = questions(environment: environment)
        // A process in the background would be stopped for touching the mode.
        guard !questions.isEmpty, isatty(input) == 1, tcgetpgrp(input) == getpgrp() else { return capabilities }
        var options = TerminalMode.Options()
        options.keepsSignals = true
        options.marksPastes = false
        options.usesKeyboardProtocol = false
        let mode = TerminalMode(input: input, output: output, options: options)
        guard (try? mode.enter()) != nil else { return capabilities }
        defer { mode.leave() }
        _ = questions.withUnsafeBytes { write(output, $0.baseAddress, $0.count) }
        var decoder = KeyDecoder()
        var buffer = [UInt8](repeating: 0, count: 4096)
        let deadline = milliseconds() + 250
        while true {
            let left = deadline - milliseconds()
            var poll = pollfd(fd: input, events: Int16(POLLIN), revents: 0)
            guard left > 0, Glibc.poll(&poll, 1, Int32(left)) > 0 else { return capabilities }
            let count = read(input, &buffer, buffer.count)
            guard count > 0 else { return capabilities }
            for case .report(let report) in decoder.decode(buffer[..<count]) {
                capabilities.take(report)
                // Every terminal answers to this one, and it was asked last.
                if case .deviceAttributes = report { return capabilities }
            }
        }
    }

    private static func milliseconds() -> Int {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return time.tv_sec * 1000 + time.tv_nsec / 1_000_000
    }
}
