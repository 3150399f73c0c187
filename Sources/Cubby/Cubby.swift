// Everything that an application embeds, under one name. `docs/embedding.md` begins with it.
@_exported public import Application
@_exported public import CSV
@_exported public import ColumnEngine
@_exported public import Files
@_exported public import Gallery
@_exported public import Images
@_exported public import ItemArchive
@_exported public import Items
@_exported public import KeyedArchive
@_exported public import Lua
@_exported public import PredicateFormat
@_exported public import PropertyList
@_exported public import REPL
@_exported public import Scripting
@_exported public import SharedItems
