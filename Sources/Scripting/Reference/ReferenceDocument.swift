import FoundationEssentials
import Lua

/// The reference for programs. `version` increases when a field changes its meaning or is removed; fields may be added.
struct ReferenceDocument: Encodable {
    let version = 1
    let declarations: [Declaration]
    let events: [Event]

    init(_ reference: APIReference) {
        declarations = reference.declarations.map(Declaration.init)
        events = reference.events.map(Event.init)
    }

    func json() throws(EncodingError) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        do { return String(decoding: try encoder.encode(self), as: UTF8.self) + "\n" } catch {
            throw error as? EncodingError ?? .invalidValue(self, .init(codingPath: [], debugDescription: "\(error)"))
        }
    }

    /// A type in words and in LuaCATS notation.
    struct TypeText: Encodable {
        let words: String
        let annotation: String
        /// The fields of a record.
        let fields: [Parameter]?

        init(_ type: LuaType) {
            words = type.name
            annotation = type.annotation()
            fields = type.record?.fields.map(Parameter.init)
        }
    }

    struct Parameter: Encodable {
        let name: String
        let type: TypeText
        let isOptional: Bool
        let documentation: String
        let options: [Parameter]?

        init(_ parameter: LuaParameter) {
            name = parameter.name
            type = TypeText(parameter.type)
            isOptional = parameter.type.isOptional
            documentation = parameter.documentation
            options = parameter.type.options?.map(Parameter.init)
        }
    }

    struct Function: Encodable {
        /// Empty for the call of a module or a global itself.
        let name: String
        let signature: String
        let parameters: [Parameter]
        let results: [TypeText]
        let documentation: String
        let example: String

        init(_ function: LuaFunctionDeclaration, of declaration: LuaDeclaration) {
            name = function.name
            signature = declaration.signature(of: function)
            parameters = function.parameters.map(Parameter.init)
            results = function.results.map(TypeText.init)
            documentation = function.documentation
            example = function.example
        }
    }

    struct Property: Encodable {
        let name: String
        let type: TypeText
        let isReadOnly: Bool
        let documentation: String
    }

    struct Operator: Encodable {
        let name: String
        let operand: TypeText?
        let result: TypeText
        let documentation: String
    }

    struct Declaration: Encodable {
        let kind: String
        let name: String
        let isGlobal: Bool
        let isPartOfLua: Bool
        let documentation: String
        let properties: [Property]
        let operators: [Operator]
        let functions: [Function]
        /// The class's own functions.
        let statics: [Function]?

        init(_ declaration: LuaDeclaration) {
            kind = declaration.kind.rawValue
            name = declaration.name
            isGlobal = declaration.isGlobal
            isPartOfLua = declaration.isPartOfLua
            documentation = declaration.documentation
            properties = declaration.properties.map {
                Property(
                    name: $0.name, type: TypeText($0.type), isReadOnly: $0.isReadOnly, documentation: $0.documentation)
            }
            operators = declaration.operators.map {
                Operator(
                    name: $0.name, operand: $0.operand.map(TypeText.init), result: TypeText($0.result),
                    documentation: $0.documentation)
            }
            functions = declaration.functions.map { Function($0, of: declaration) }
            let statics = declaration.statics.map { Function($0, of: declaration) }
            self.statics = statics.isEmpty ? nil : statics
        }
    }

    struct Event: Encodable {
        let owner: String
        let name: String
        let documentation: String
        let payload: [Parameter]
        let allowsVeto: Bool

        init(_ event: EventDeclaration) {
            owner = event.owner.rawValue
            name = event.name
            documentation = event.documentation
            payload = event.payload.map(Parameter.init)
            allowsVeto = event.allowsVeto
        }
    }
}
