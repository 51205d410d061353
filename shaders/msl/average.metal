// language: metal2.4
#include <metal_stdlib>
#include <simd/simd.h>

using metal::uint;

struct _mslBufferSizes {
    uint size0;
    uint size1;
    uint size3;
};

struct Tile {
    uint segment;
    uint first;
    uint length;
    uint number;
};
typedef Tile type_1[1];
typedef metal::float4 type_6[1];
constant uint WIDTH = 256u;

uint unfold(
    metal::uint3 group_1,
    metal::uint3 grid_1
) {
    return (group_1.y * grid_1.x) + group_1.x;
}

Tile tile_of(
    metal::uint3 group_2,
    metal::uint3 grid_2,
    device type_1 const& tiles,
    constant _mslBufferSizes& _buffer_sizes
) {
    uint _e2 = unfold(group_2, grid_2);
    if (_e2 >= (1 + (_buffer_sizes.size0 - 0 - 16) / 16)) {
        return Tile {};
    }
    Tile _e9 = tiles[_e2];
    return _e9;
}

bool inside(
    Tile tile,
    uint lane_1
) {
    return (lane_1 * 4u) < tile.length;
}

struct averageInput {
};
[[max_total_threads_per_threadgroup(256)]] kernel void average(
  metal::uint3 group [[threadgroup_position_in_grid]]
, metal::uint3 grid [[threadgroups_per_grid]]
, uint lane [[thread_index_in_threadgroup]]
, device type_1 const& tiles [[user(fake0)]]
, device type_6 const& params [[user(fake0)]]
, device float const& share [[user(fake0)]]
, device type_6& averages [[user(fake0)]]
, constant _mslBufferSizes& _buffer_sizes [[user(fake0)]]
) {
    bool local = {};
    Tile _e3 = tile_of(group, grid, tiles, _buffer_sizes);
    float _e5 = share;
    if (!((_e5 == 0.0))) {
        bool _e11 = inside(_e3, lane);
        local = !(_e11);
    } else {
        local = true;
    }
    bool _e14 = local;
    if (_e14) {
        return;
    }
    uint i = _e3.first + lane;
    metal::float4 _e19 = averages[i];
    float _e21 = share;
    metal::float4 _e24 = params[i];
    metal::float4 _e27 = averages[i];
    averages[i] = _e19 + (_e21 * (_e24 - _e27));
    return;
}
