-- Written for the tests of this repository; none of SONiC's own. It decides on what the recorded traces of sonic-swss e6b0c5b5 are
-- documented to decide on (oracle/tests/data/pfcwd-traces/README.md), in the same databases.
-- KEYS: queues. ARGV: number of COUNTERS_DB, name of the table, interval of the polls in milliseconds.
local base, poll = ARGV[2] .. ':', tonumber(ARGV[3]) * 1000
redis.call('SELECT', ARGV[1])

for _, oid in ipairs(KEYS) do
  local queue = base .. oid
  local status, action, whole, left, red = unpack(redis.call('HMGET', queue, 'PFC_WD_STATUS', 'PFC_WD_ACTION',
    'PFC_WD_RESTORATION_TIME', 'PFC_WD_RESTORATION_TIME_LEFT', 'BIG_RED_SWITCH_MODE'))
  local class = redis.call('HGET', 'COUNTERS_QUEUE_INDEX_MAP', oid)
  local own = redis.call('HGET', 'COUNTERS_QUEUE_PORT_MAP', oid)
  -- Without a time a queue stays stormed.
  if whole and whole ~= '' and class and own and not red and status ~= 'operational' and action ~= 'alert' then
    whole = tonumber(whole)
    left = tonumber(left or whole)
    local port, rx = base .. own, 'SAI_PORT_STAT_PFC_' .. class .. '_RX_PKTS'
    local now, last = unpack(redis.call('HMGET', port, rx, rx .. '_last'))
    local quiet = nil
    if last then quiet = now == last end
    if quiet == true then
      if left <= poll then
        redis.call('PUBLISH', 'PFC_WD_ACTION', cjson.encode({oid, 'restore'}))
        left = whole
      else
        left = left - poll
      end
    elseif quiet == false then
      left = whole
    end
    redis.call('HSET', queue, 'PFC_WD_RESTORATION_TIME_LEFT', left)
    redis.call('HSET', port, rx .. '_last', now)
  end
end
return {}
