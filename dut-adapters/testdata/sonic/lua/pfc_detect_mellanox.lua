-- Written for the tests of this repository; none of SONiC's own. It decides on what the recorded traces of sonic-swss e6b0c5b5 are
-- documented to decide on (oracle/tests/data/pfcwd-traces/README.md), in the same databases.
-- KEYS: queues. ARGV: number of COUNTERS_DB, name of the table, interval of the polls in milliseconds.
local base, poll = ARGV[2] .. ':', tonumber(ARGV[3]) * 1000
redis.call('SELECT', ARGV[1])
local now = redis.call('TIME')
redis.call('HSET', 'TIMESTAMP', 'PFCWD_POLL_TIMESTAMP_last', now[1] .. string.format('%06d', now[2]))

local function fields(key, ...) return unpack(redis.call('HMGET', key, ...)) end
local function say(oid, word) redis.call('PUBLISH', 'PFC_WD_ACTION', cjson.encode({oid, word})) end

for _, oid in ipairs(KEYS) do
  local queue = base .. oid
  local status, action, whole, left, red = fields(queue, 'PFC_WD_STATUS', 'PFC_WD_ACTION', 'PFC_WD_DETECTION_TIME',
    'PFC_WD_DETECTION_TIME_LEFT', 'BIG_RED_SWITCH_MODE')
  local class = redis.call('HGET', 'COUNTERS_QUEUE_INDEX_MAP', oid)
  local own = redis.call('HGET', 'COUNTERS_QUEUE_PORT_MAP', oid)
  -- The time between two polls is that between two copies of the counters, whatever was made of them.
  local at, at_last = fields(queue, 'PFC_WD_time_stamp', 'PFC_WD_time_stamp_last')
  local took = at_last and (at - at_last) / 1000 or poll
  redis.call('HSET', queue, 'PFC_WD_time_stamp_last', at)
  if whole and class and own and not red and (status == 'operational' or action == 'alert') then
    local port, pfc = base .. own, 'SAI_PORT_STAT_PFC_' .. class .. '_'
    whole = tonumber(whole)
    left = tonumber(left or whole)
    local occupancy, packets, packets_last = fields(queue, 'SAI_QUEUE_STAT_CURR_OCCUPANCY_BYTES', 'SAI_QUEUE_STAT_PACKETS',
      'SAI_QUEUE_STAT_PACKETS_last')
    local rx, pause, rx_last, pause_last = fields(port, pfc .. 'RX_PKTS', pfc .. 'RX_PAUSE_DURATION_US', pfc .. 'RX_PKTS_last',
      pfc .. 'RX_PAUSE_DURATION_US_last')
    local seen = nil
    if packets_last and rx_last and pause_last then
      seen = tonumber(occupancy) > 0 and packets == packets_last and (pause - pause_last) * 100 > took * 99
    end
    local fired = false

    if seen == true then
      if (whole - left + took) * 100 > whole * 99 then
        say(oid, 'storm')
        left, fired = whole, true
      else
        left = left - took
      end
    elseif seen == false then
      if status ~= 'operational' then say(oid, 'restore') end
      left = whole
    end
    redis.call('HSET', queue, 'PFC_WD_DETECTION_TIME_LEFT', left)
    redis.call('HSET', queue, 'SAI_QUEUE_STAT_PACKETS_last', packets)
    if fired then
      redis.call('HDEL', port, pfc .. 'RX_PKTS_last', pfc .. 'RX_PAUSE_DURATION_US_last')
    else
      redis.call('HSET', port, pfc .. 'RX_PKTS_last', rx, pfc .. 'RX_PAUSE_DURATION_US_last', pause)
    end
  end
end
return {}
