import Hummingbird

/// What a request is told: the script's result or its error, and what it wrote.
struct ScriptAnswer: ResponseEncodable {
    var result: JSONValue?
    var output: String?
    var error: String?

    init(result: JSONValue? = nil, output: String, error: String? = nil) {
        self.result = result
        self.output = output.isEmpty ? nil : output
        self.error = error
    }

    func response(from request: Request, context: some RequestContext) throws -> Response {
        var response = try context.responseEncoder.encode(self, from: request, context: context)
        if error != nil { response.status = .unprocessableContent }
        return response
    }
}
