local requests

test.before(function()
  requests = {}
  replace.http(function(request)
    requests[#requests + 1] = request
    return { status = 201 }
  end)
  test.run("push.lua", "https://backup.example/backups")
end)

test("a save is at the server, and a message tells of it", function()
  items:createItem{ name = "Bear" }
  items:saveChanges()
  clock:advance(1)
  expect(#requests):equals(2)
  expect(requests[1].method):equals("PUT")
  expect(requests[1].url):matches("^https://backup%.example/backups/.*%.archive$")
  expect(archiver.open(requests[1].body).root[1].name):equals("Bear")
  expect(json.decode(requests[2].body).items):equals(1)
end)

test("a server that fails is asked three times, and the message says so", function()
  replace.http(function(request)
    requests[#requests + 1] = request
    return { status = request.method == "PUT" and 503 or 201 }
  end)
  items:createItem{ name = "Bear" }
  app:pressHome()
  clock:advance(10)
  expect(#requests):equals(4)
  expect(json.decode(requests[4].body).text):equals("not pushed: the server answers 503")
  expect(test.log()):matches("no backup at the server: the server answers 503")
end)

test("a save that fails pushes nothing", function()
  items:createItem{ name = "Bear" }
  fault.save("disk full")
  expect(items:saveChanges()):isNil()
  clock:advance(1)
  expect(#requests):equals(0)
end)
