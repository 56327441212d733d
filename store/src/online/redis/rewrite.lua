-- Rewrites rows in place: what `Horizon::rewrite` does (versions.rs), for a batch of keys, each at one moment.
-- KEYS: rows. ARGV: the snapshot, the kept ones and the void ones (both as numbers with commas), then a slot for each key,
-- or nothing, to prune only.
local snapshot = tonumber(ARGV[1])
local kept, void = {}, {}
for id in string.gmatch(ARGV[2], '%d+') do kept[#kept + 1] = tonumber(id) end
for id in string.gmatch(ARGV[3], '%d+') do void[tonumber(id)] = true end
local writes = #ARGV > 3
local VANISHED = 4294967295

for index, key in ipairs(KEYS) do
  local value = redis.call('GET', key) or ''
  local below, above, at = {}, {}, 1
  while at <= #value do
    local id, length = struct.unpack('<I4I4', value, at)
    local vanished = length == VANISHED
    local last = at + 7 + (vanished and 0 or length)
    if last > #value then return redis.error_reply('DAMAGED a stored row is damaged') end
    if id > snapshot then
      above[#above + 1] = string.sub(value, at, last)
    elseif not (id == snapshot and writes) and not void[id] then
      below[#below + 1] = { id = id, first = at, last = last, vanished = vanished }
    end
    at = last + 1
  end

  local parts, k = {}, 1
  for i, slot in ipairs(below) do
    local newer = below[i + 1]
    while k <= #kept and kept[k] < slot.id do k = k + 1 end
    local read = not newer or (k <= #kept and kept[k] < newer.id)
    if read and not (#parts == 0 and slot.vanished) then
      parts[#parts + 1] = string.sub(value, slot.first, slot.last)
    end
  end
  if writes then
    local slot = ARGV[3 + index]
    local vanished = string.sub(slot, 5, 8) == '\255\255\255\255'
    if not (#parts == 0 and vanished) then parts[#parts + 1] = slot end
  end
  for _, slot in ipairs(above) do parts[#parts + 1] = slot end

  local rewritten = table.concat(parts)
  if rewritten == '' then
    redis.call('DEL', key)
  elseif rewritten ~= value then
    redis.call('SET', key, rewritten)
  end
end
return #KEYS
