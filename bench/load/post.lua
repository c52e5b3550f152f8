-- Sends signed events from a file, as bench/load/event-file.ts writes it: its first line is the filling of every body
-- (empty for small bodies), each further line an event: the hex HMAC, then the body. One thread, so that no event is
-- sent twice unless the file ends: `wrapped` counts how often it did.
local SIGNATURE_LENGTH = 64
local FILLING_MARK = "\1"

local threads = {}
local file, filling, head, idempotent

function setup(thread)
  threads[#threads + 1] = thread
end

local function options_of(args)
  local options = {}
  for index = 2, #args do
    local name, value = args[index]:match("^(%w+)=(.*)$")
    options[name] = value
  end
  return options
end

-- The n-th request is due n / rate after the first, whichever connection is free: a plan for all of them together, so
-- that the rate holds whatever the latency is. wrk waits whole milliseconds, so the rest is left to chance.
local function pace(rate)
  local ffi = require("ffi")
  ffi.cdef([[typedef struct { long tv_sec; long tv_nsec; } bench_time; int clock_gettime(int id, bench_time *at);]])
  local at = ffi.new("bench_time")
  local function now()
    ffi.C.clock_gettime(1, at)
    return tonumber(at.tv_sec) * 1e3 + tonumber(at.tv_nsec) / 1e6
  end
  local sent, startedAt = 0, nil
  function delay()
    startedAt = startedAt or now()
    sent = sent + 1
    local wait = startedAt + sent * 1e3 / rate - now()
    return wait <= 0 and 0 or math.floor(wait + math.random())
  end
end

local function count_statuses()
  accepted, unavailable, other = 0, 0, 0
  function response(status)
    if status < 300 then accepted = accepted + 1
    elseif status == 503 then unavailable = unavailable + 1
    else other = other + 1 end
  end
end

function init(args)
  local options = options_of(args)
  wrapped = 0
  file = assert(io.open(args[1], "r"))
  filling = file:read("*l")
  idempotent = options.idempotent == "1"
  head = "POST " .. wrk.path .. " HTTP/1.1\r\nHost: bench\r\nContent-Type: application/json\r\n"
    .. "X-Event-Type: payment_notify\r\n"
  if options.rate then pace(tonumber(options.rate)) end
  if options.statuses == "1" then count_statuses() end
end

local function next_line()
  local line = file:read("*l")
  if line then return line end
  wrapped = wrapped + 1
  file:seek("set")
  file:read("*l")
  return file:read("*l")
end

function request()
  local line = next_line()
  local body = line:sub(SIGNATURE_LENGTH + 1)
  if filling ~= "" then
    local at = body:find(FILLING_MARK, 1, true)
    body = body:sub(1, at - 1) .. filling .. body:sub(at + 1)
  end
  local key = ""
  if idempotent then key = "Idempotency-Key: " .. body:match('"event_id":"([^"]+)"') .. "\r\n" end
  return head .. key .. "X-Signature: " .. line:sub(1, SIGNATURE_LENGTH)
    .. "\r\nContent-Length: " .. #body .. "\r\n\r\n" .. body
end

function done(summary, latency)
  local totals = { wrapped = 0, accepted = 0, unavailable = 0, other = 0 }
  for _, thread in ipairs(threads) do
    for name, total in pairs(totals) do totals[name] = total + (thread:get(name) or 0) end
  end
  local errors = summary.errors
  io.write(string.format(
    'RESULT {"requests":%d,"microseconds":%d,"p50":%.3f,"p99":%.3f,"p999":%.3f,"status":%d,"connect":%d,"read":%d,'
      .. '"write":%d,"timeout":%d,"wrapped":%d,"accepted":%d,"unavailable":%d,"other":%d}\n',
    summary.requests, summary.duration, latency:percentile(50) / 1e3, latency:percentile(99) / 1e3,
    latency:percentile(99.9) / 1e3, errors.status, errors.connect, errors.read, errors.write, errors.timeout,
    totals.wrapped, totals.accepted, totals.unavailable, totals.other
  ))
end
