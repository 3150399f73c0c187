import Application
import CPlatform
import Files
import Glibc
import Scripting
import Wording

/// The program of `$PAGER`, which receives the whole text on its standard input, without colours.
struct ExternalPager {
    enum Result: Equatable {
        case shown
        case failed(String)
    }

    private static let rowsPerPiece = 500
    private let command: String

    init(_ command: String) { self.command = command }

    /// The program and its arguments; run by a shell only if the command needs one.
    var words: [String] {
        let isPlain = command.unicodeScalars.allSatisfy {
            $0.properties.isAlphabetic || ("0"..."9").contains($0) || " -_+./:,@".unicodeScalars.contains($0)
        }
        let words = command.split(separator: " ").map(String.init)
        return isPlain && !words.isEmpty ? words : ["/bin/sh", "-c", command]
    }

    /// Shows a text until the program ends. Signals and timers are served meanwhile.
    func show(_ printed: PrintedValues, in prompt: some PromptTerminal) -> Result {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { return .failed("$PAGER: no pipe") }
        defer { for end in ends where end >= 0 { close(end) } }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        _ = fcntl(ends[1], F_SETFL, O_NONBLOCK)
        prompt.lendTerminal()
        defer { prompt.takeTerminalBack() }
        let child: ChildProcess
        do { child = try ChildProcess(words, input: ends[0]) } catch {
            return .failed("$PAGER: \(VisibleText.line(command)) could not be started: \(error.message)")
        }
        close(ends[0])
        ends[0] = -1
        let text = Self.pieces(of: printed)
        var piece: ArraySlice<UInt8> = []
        var end: ChildProcess.End?
        // The pipe wakes up the loop as soon as it is writable.
        let room = prompt.loop.watch(ends[1], for: .writable) { _ in }
        defer { room.cancel() }
        while end == nil {
            if piece.isEmpty, ends[1] >= 0 { piece = text.next().map { Array($0.utf8)[...] } ?? [] }
            let written =
                piece.isEmpty ? 0 : piece.withUnsafeBytes { cubby_write_some(ends[1], $0.baseAddress, $0.count) }
            let isFull = written < 0 && errno == EAGAIN
            if written > 0 { piece = piece.dropFirst(Int(written)) }
            // All is written, or the program has closed its input.
            if ends[1] >= 0, written <= 0, !isFull {
                room.cancel()
                close(ends[1])
                (ends[1], piece) = (-1, [])
            }
            prompt.loop.runOnce(timeout: 0.02)
            end = child.end(waits: false)
        }
        // A shell's statuses for a program that it cannot run or find.
        guard case .exited(let status) = end, status == 126 || status == 127 else { return .shown }
        return .failed("$PAGER: \(VisibleText.line(command)) could not be started")
    }

    /// The text, or the table with all of its rows and columns.
    static func pieces(of printed: PrintedValues) -> AnyIterator<String> {
        guard var table = printed.table else {
            return AnyIterator([printed.text].map(PagerText.plain).makeIterator())
        }
        var next = 0
        return AnyIterator {
            guard next < table.rows.count else { return nil }
            let shown = next..<min(table.rows.count, next + rowsPerPiece)
            let drawn = table.lines(shown, columns: .max)
            defer { next = shown.upperBound }
            return (next == 0 ? [drawn.title] + drawn.lines : drawn.lines).joined(separator: "\n") + "\n"
        }
    }
}
