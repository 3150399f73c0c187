import PropertyList

/// The adapter's capabilities. Only implemented ones are announced.
enum Capabilities {
    /// The body of the response to `initialize`. A launched program can also be terminated and restarted.
    static func body(isLaunched: Bool) -> JSONValue {
        let all = [
            "supportsConfigurationDoneRequest", "supportsConditionalBreakpoints", "supportsHitConditionalBreakpoints",
            "supportsLogPoints", "supportsEvaluateForHovers", "supportsSetVariable", "supportsSetExpression",
            "supportsExceptionInfoRequest", "supportsLoadedSourcesRequest", "supportsDelayedStackTraceLoading",
            "supportsCancelRequest", "supportsClipboardContext", "supportsCompletionsRequest",
        ]
        let launched = ["supportsTerminateRequest", "supportsRestartRequest", "supportTerminateDebuggee"]
        var fields: PropertyListFields = [:]
        for name in isLaunched ? all + launched : all { fields[name] = .boolean(true) }
        fields["completionTriggerCharacters"] = .array([".", ":"].map(JSONValue.string))
        fields["exceptionBreakpointFilters"] = .array([
            filter("uncaught", "Uncaught errors", "Stops where an error that nothing catches is raised.", true),
            filter("all", "All errors", "Stops at errors that pcall catches, too.", false),
        ])
        return .fields(fields)
    }

    private static func filter(_ name: String, _ label: String, _ description: String, _ isDefault: Bool) -> JSONValue {
        .object([
            "filter": .string(name), "label": .string(label), "description": .string(description),
            "default": .boolean(isDefault),
        ])
    }
}
