import CPlatform
internal import Platform

extension TerminalCapabilities {
    /// Queries the terminal and waits for its answers, at most a quarter of a second: for a program without a prompt.
    /// Keys typed meanwhile are lost.
    ///
    /// - Parameters:
    ///   - input: a terminal's descriptor.
    ///   - output: the descriptor for the queries.
    ///   - environment: reads a variable.
    /// - Returns: its capabilities; none without a terminal, or in the background.
    package static func ask(
        input: Int32 = 0, output: Int32 = 1, environment: (String) -> String?
    ) -> TerminalCapabilities {
        var capabilities = TerminalCapabilities()
        let questions = questions(environment: environment)
        // A background process would be stopped for changing the mode.
        guard !questions.isEmpty, isatty(input) == 1, tcgetpgrp(input) == getpgrp() else { return capabilities }
        var options = TerminalMode.Options()
        options.keepsSignals = true
        options.marksPastes = false
        options.usesKeyboardProtocol = false
        let mode = TerminalMode(input: input, output: output, options: options)
        guard (try? mode.enter()) != nil else { return capabilities }
        defer { mode.leave() }
        guard cubby_write(output, questions, questions.count) == questions.count else { return capabilities }
        var decoder = KeyDecoder()
        var buffer = [UInt8](repeating: 0, count: 4096)
        let deadline = milliseconds() + 250
        while true {
            let left = deadline - milliseconds()
            var poll = pollfd(fd: input, events: Int16(POLLIN), revents: 0)
            guard left > 0, Platform.poll(&poll, 1, Int32(left)) > 0 else { return capabilities }
            let count = read(input, &buffer, buffer.count)
            guard count > 0 else { return capabilities }
            for case .report(let report) in decoder.decode(buffer[..<count]) {
                capabilities.take(report)
                // Every terminal answers this query, which is the last.
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
