import Application
import Glibc
import LineEditor
import Scripting
import Wording

/// Handles messages from the host.
extension AttachPrompt {
    func answered() {
        let isThere = connection.receive()
        do {
            while status == nil, let message = try connection.message() { take(message) }
            if isThere { return }
        } catch {}
        leaveEditing()
        AttachClient.put(Array("\nThe host has ended.\n".utf8), STDERR_FILENO)
        status = status ?? (isRunningEntry ? AttachClient.Status.lost : AttachClient.Status.done)
    }

    /// The host has escaped the data in an entry's output; everything else is escaped here.
    private func take(_ message: AttachMessage) {
        hasReportedSuspension = false
        suspendedSince = nil
        switch message.kind {
        case .output: show(message.bytes, STDOUT_FILENO)
        case .errors: show(message.bytes, STDERR_FILENO)
        // The following messages wait while the user reads the page.
        case .page: pausing { page(PrintedValues(message.text)) }
        case .pager: drawPager(message.bytes)
        case .pagerEnd:
            isPaging = false
            typedAhead += message.bytes
            waitWithKeys()
        case .request: pausing { answer(message.bytes) }
        case .candidates:
            guard let found = AttachCandidates(json: message.bytes), found.number == lastQuestion else { return }
            perform(editor.offer(found.result))
        case .names: names = Set(message.text.split(separator: "\n").map(String.init))
        case .notice:
            guard !isRunningEntry else { return }
            show(Array((palette.apply(.dimmed, to: VisibleText.line(message.text)) + "\n").utf8), STDOUT_FILENO)
        case .leave: status = statusAtEnd
        case .done, .failed:
            if message.kind == .failed { hasFailedEntry = true }
            nextNumber = Int(message.text).map { $0 + 1 } ?? nextNumber
            ended()
        default: break
        }
    }

    func show(_ bytes: [UInt8], _ target: Int32) {
        guard isEditing, editor.isActive, mode.isEntered else {
            if !AttachClient.put(bytes, target) { status = AttachClient.Status.lost }
            return
        }
        perform(editor.interruptedBy(output: bytes))
    }

    /// Draws a pager of the host; keys go to it from now on.
    private func drawPager(_ bytes: [UInt8]) {
        if !isPaging {
            do { try mode.enter() } catch { return connection.send(AttachMessage(.keys, "q")) }
            isPaging = true
            input?.events = .readable
        }
        put(bytes)
    }

    private func pausing(_ body: () -> Void) {
        answers?.events = []
        defer { answers?.events = .readable }
        body()
    }

    private func answer(_ bytes: [UInt8]) {
        guard let request = TerminalRequest(json: bytes) else { return }
        var message = AttachMessage(.answer, perform(request).json)
        if message.bytes.count > AttachDecoder.limit {
            complain("\(request.argument) is longer than \(AttachDecoder.limit >> 20) MB")
            message = AttachMessage(.answer, TerminalAnswer(isDone: false).json)
        }
        connection.send(message)
    }

    func reportSuspension() {
        guard timeout != nil || !hasReportedSuspension else { return }
        guard case let silence = look(), silence.isSuspended else { return suspendedSince = nil }
        let start = suspendedSince ?? .now()
        suspendedSince = start
        if let timeout {
            guard start.advanced(by: timeout) <= .now() else { return }
            leaveEditing()
            AttachClient.giveUp(silence, after: timeout)
            status = AttachClient.Status.silent
        } else {
            hasReportedSuspension = true
            AttachClient.say("\(silence.text). Ctrl-C leaves")
        }
    }
}
