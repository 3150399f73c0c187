local function archive()
  local Client, Invoice = archiver.class("Client"), archiver.class("Billing.Invoice")
  function Client:encode(coder) coder:encodeObject(self.name, "name") end
  function Invoice:encode(coder)
    coder:encodeObject(self.client, "client")
    coder:encodeInteger(self.number, "number")
  end
  local bear = Client{ name = "Bear, Ltd." }
  local path = test.folder() .. "/old.archive"
  local invoices = { Invoice{ client = bear, number = 7 }, Invoice{ client = bear, number = 8 } }
  assert(archiver.archiveRootObject(invoices, path))
  return path
end

test("without a class it counts the objects of each", function()
  test.run("old-application.lua", archive())
  expect(test.output()):equals("2\tBilling.Invoice\n1\tClient\n1\tNSArray\n")
end)

test("the objects of a class become a table of CSV and of SQLite", function()
  test.run("old-application.lua", archive(), "Billing.Invoice", test.folder())
  local rows = {}
  for row in csv.rows(test.folder() .. "/Billing.Invoice.csv") do rows[#rows + 1] = row end
  expect(rows):equals{ { client = "Bear, Ltd.", number = "7" }, { client = "Bear, Ltd.", number = "8" } }
  expect(fs.exists(test.folder() .. "/Billing.Invoice.sqlite")):isTrue()
end)

test("a class that the archive lacks is an error", function()
  expect(function() test.run("old-application.lua", archive(), "Invoice", test.folder()) end)
    :raises("no object of the class Invoice")
end)
