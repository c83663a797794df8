-- What NICs of blue-rdma send, for Wireshark and tshark (3.6 and later):
--
--     wireshark -X lua_script:docs/wireshark/blue_rdma.lua -o udp.try_heuristic_first:TRUE capture.pcapng
--
-- With the option (in the preferences of UDP: "Try heuristic sub-dissectors first") it is asked before what goes by port numbers: before
-- that of RoCEv2, and before that of whatever protocol has the sender's queue pair for its port.
--
-- Datagrams to UDP port 4791 that no packet of RoCEv2 can be like are shown as blue-rdma, all others as before. The layout and
-- how the two are told apart stand in docs/blue-rdma.md. Nothing here uses the bit operators of Lua 5.3, which Wireshark has not had
-- before 4.4.

local ROCE_PORT = 4791
local BLOCK = 54 -- BTH and extended headers of what hardware sends
local ACK = 48 -- what the driver sends
local WINDOW, STRIDE = 128, 16

local FIRST, MIDDLE, LAST, ONLY = 1, 2, 3, 4
-- Name, and of what has a payload the place in its message and what follows the RETH.
local OPCODES = {
    [0x00] = { "SEND first", FIRST },
    [0x01] = { "SEND middle", MIDDLE },
    [0x02] = { "SEND last", LAST },
    [0x03] = { "SEND last with immediate", LAST, "imm" },
    [0x04] = { "SEND only", ONLY },
    [0x05] = { "SEND only with immediate", ONLY, "imm" },
    [0x06] = { "WRITE first", FIRST },
    [0x07] = { "WRITE middle", MIDDLE },
    [0x08] = { "WRITE last", LAST },
    [0x09] = { "WRITE last with immediate", LAST, "imm" },
    [0x0a] = { "WRITE only", ONLY },
    [0x0b] = { "WRITE only with immediate", ONLY, "imm" },
    [0x0c] = { "READ request" },
    [0x0d] = { "READ response first", FIRST },
    [0x0e] = { "READ response middle", MIDDLE },
    [0x0f] = { "READ response last", LAST },
    [0x10] = { "READ response only", ONLY },
    [0x11] = { "Acknowledge" },
    [0x16] = { "SEND last with invalidate", LAST, "invalidate" },
    [0x17] = { "SEND only with invalidate", ONLY, "invalidate" },
    [0x80] = { "CNP" },
}
local READ_REQUEST, ACKNOWLEDGE, CNP = 0x0c, 0x11, 0x80

local names = {}
for code, opcode in pairs(OPCODES) do
    names[code] = opcode[1]
end

local blue = Proto("blue_rdma", "blue-rdma")
local f = {
    opcode = ProtoField.uint8("blue_rdma.opcode", "Opcode", base.HEX, names),
    solicited = ProtoField.bool("blue_rdma.solicited", "Solicited event", 8, nil, 0x80),
    is_retry = ProtoField.bool("blue_rdma.is_retry", "Sent again", 8, nil, 0x40),
    version = ProtoField.uint8("blue_rdma.version", "Version", base.DEC, nil, 0x0f),
    msn = ProtoField.uint16("blue_rdma.msn", "Message sequence number", base.DEC),
    dest_qp = ProtoField.uint24("blue_rdma.dest_qp", "Destination queue pair", base.HEX),
    ack_req = ProtoField.bool("blue_rdma.ack_req", "Acknowledgement wanted", 8, nil, 0x80),
    psn = ProtoField.uint24("blue_rdma.psn", "Packet sequence number", base.DEC),
    va = ProtoField.uint64("blue_rdma.reth.va", "Virtual address", base.HEX),
    rkey = ProtoField.uint32("blue_rdma.reth.rkey", "Remote key", base.HEX),
    dma_len = ProtoField.uint32("blue_rdma.reth.dma_len", "Length", base.DEC),
    local_va = ProtoField.uint64("blue_rdma.rreth.va", "Requester's address", base.HEX),
    lkey = ProtoField.uint32("blue_rdma.rreth.lkey", "Requester's key", base.HEX),
    immediate = ProtoField.uint32("blue_rdma.imm", "Immediate data", base.HEX),
    invalidate = ProtoField.uint32("blue_rdma.ieth", "Key to revoke", base.HEX),
    before = ProtoField.bytes("blue_rdma.ack.before", "Bitmap before"),
    now = ProtoField.bytes("blue_rdma.ack.now", "Bitmap now"),
    lost = ProtoField.bool("blue_rdma.ack.lost", "Packets lost", 8, nil, 0x80),
    moved = ProtoField.bool("blue_rdma.ack.moved", "Window moved", 8, nil, 0x40),
    by_driver = ProtoField.bool("blue_rdma.ack.by_driver", "Written by the driver", 8, nil, 0x20),
    before_psn = ProtoField.uint24("blue_rdma.ack.before_psn", "PSN before", base.DEC),
    missing = ProtoField.string("blue_rdma.ack.missing", "Missing"),
    payload = ProtoField.bytes("blue_rdma.payload", "Payload"),
}
blue.fields = f
local unused = ProtoExpert.new("blue_rdma.unused", "Unused part of the headers is not zero", expert.group.PROTOCOL, expert.severity.WARN)
blue.experts = { unused }

-- How many bytes stand in front of the payload.
local function shift(tvb)
    return tvb(19, 1):uint() % 4
end

-- Whether no packet of RoCEv2 can be like it.
local function is_blue(tvb)
    local len = tvb:reported_len()
    if tvb:len() < ACK or len < ACK then
        return false
    end
    local code = tvb(0, 1):uint()
    local opcode = OPCODES[code]
    if not opcode or tvb(1, 1):uint() % 16 ~= 0 then
        return false
    end
    if code == ACKNOWLEDGE then
        return len == ACK or len == BLOCK
    end
    if len <= BLOCK or code == READ_REQUEST or code == CNP then
        return len == BLOCK
    end
    local payload, said = len - BLOCK - shift(tvb), tvb(24, 4):uint()
    if opcode[2] == FIRST then
        -- It ends at a multiple of four of memory; RoCEv2's lengths are multiples of four themselves.
        return len % 4 == 2 and said > payload
    end
    return said == payload
end

-- Bit i of a bitmap at `at`: the packet `i` behind the first of its window.
local function has_come(tvb, at, i)
    local byte = tvb(at + 15 - math.floor(i / 8), 1):uint()
    return math.floor(byte / 2 ^ (i % 8)) % 2 == 1
end

-- What an acknowledgement by hardware says is missing: what moved out of the window, and what is below the highest that came.
local function missing(tvb, before, now, before_psn, psn)
    local all = {}
    local function told(at, from, to, first)
        for i = from, to do
            if not has_come(tvb, at, i) then
                all[#all + 1] = string.format("%d", (first + i) % 2 ^ 24)
            end
        end
    end
    local moved = (psn - before_psn) % 2 ^ 24
    told(before, 0, math.min(moved, WINDOW) - 1, before_psn - WINDOW + STRIDE)
    local highest = WINDOW - 1
    while highest >= 0 and not has_come(tvb, now, highest) do
        highest = highest - 1
    end
    told(now, 0, highest, psn - WINDOW + STRIDE)
    return table.concat(all, " ")
end

local function acknowledgement(tvb, tree, psn)
    local ack = tree:add(blue, tvb(12, 36), "Acknowledgement")
    ack:add(f.before, tvb(12, 16))
    ack:add(f.now, tvb(28, 16))
    ack:add(f.lost, tvb(44, 1))
    ack:add(f.moved, tvb(44, 1))
    ack:add(f.by_driver, tvb(44, 1))
    ack:add(f.before_psn, tvb(45, 3))
    local flags = tvb(44, 1):uint()
    local lost, by_driver = flags >= 0x80, math.floor(flags / 0x20) % 2 == 1
    if by_driver then
        return lost and "NAK by the driver" or "ACK by the driver"
    end
    local text = missing(tvb, 12, 28, tvb(45, 3):uint(), psn)
    ack:add(f.missing, tvb(12, 32), text):set_generated()
    return "ACK by hardware, missing " .. text
end

-- Adds the extended headers of what places something or asks for it, and returns where they end.
local function placing(tvb, tree, code, opcode)
    local reth = tree:add(blue, tvb(12, 16), "RETH")
    reth:add(f.va, tvb(12, 8))
    reth:add(f.rkey, tvb(20, 4))
    reth:add(f.dma_len, tvb(24, 4))
    if code == READ_REQUEST then
        reth:add(f.local_va, tvb(28, 8))
        reth:add(f.lkey, tvb(36, 4))
        return 40
    elseif opcode[3] then
        tree:add(opcode[3] == "imm" and f.immediate or f.invalidate, tvb(28, 4))
        return 32
    end
    return 28
end

function blue.dissector(tvb, pinfo, root)
    local code, psn = tvb(0, 1):uint(), tvb(9, 3):uint()
    local opcode = OPCODES[code]
    local whole = tvb:len() >= tvb:reported_len()
    pinfo.cols.protocol = "blue-rdma"
    local tree = root:add(blue, tvb(), "blue-rdma, " .. opcode[1])
    local bth = tree:add(blue, tvb(0, 12), "BTH")
    bth:add(f.opcode, tvb(0, 1))
    bth:add(f.solicited, tvb(1, 1))
    bth:add(f.is_retry, tvb(1, 1))
    bth:add(f.version, tvb(1, 1))
    bth:add(f.msn, tvb(2, 2))
    bth:add(f.dest_qp, tvb(5, 3))
    bth:add(f.ack_req, tvb(8, 1))
    bth:add(f.psn, tvb(9, 3))
    local what, ends = opcode[1], 12
    if code == ACKNOWLEDGE then
        what, ends = acknowledgement(tvb, tree, psn), ACK
    elseif code ~= CNP then
        ends = placing(tvb, tree, code, opcode)
    end
    local again = math.floor(tvb(1, 1):uint() / 0x40) % 2 == 1 and " again" or ""
    pinfo.cols.info = string.format("%s%s QP=0x%06x PSN=%d MSN=%d", what, again, tvb(5, 3):uint(), psn, tvb(2, 2):uint())
    if tvb:len() < BLOCK then
        return tvb:len()
    end
    for at = ends, BLOCK - 1 do
        if tvb(at, 1):uint() ~= 0 then
            tree:add_proto_expert_info(unused)
            break
        end
    end
    local from = BLOCK + (opcode[2] and shift(tvb) or 0)
    if opcode[2] and whole and tvb:len() > from then
        tree:add(f.payload, tvb(from))
    end
    return tvb:len()
end

blue:register_heuristic("udp", function(tvb, pinfo, root)
    if pinfo.dst_port ~= ROCE_PORT or not is_blue(tvb) then
        return false
    end
    blue.dissector(tvb, pinfo, root)
    return true
end)
