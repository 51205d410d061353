// language: metal2.4
#include <metal_stdlib>
#include <simd/simd.h>

using metal::uint;

struct _mslBufferSizes {
    uint size0;
    uint size2;
    uint size3;
    uint size4;
};

struct Tile {
    uint segment;
    uint first;
    uint length;
    uint number;
    uint param;
    uint grad;
    uint copy;
};
typedef Tile type_1[1];
typedef metal::float4 type_6[1];
typedef metal::uint4 type_8[1];
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
    if (_e2 >= (1 + (_buffer_sizes.size0 - 0 - 28) / 28)) {
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

metal::float4 param_at(
    Tile tile_1,
    uint k,
    device type_6 const& params,
    constant _mslBufferSizes& _buffer_sizes
) {
    metal::float4 _e6 = params[tile_1.param + k];
    return _e6;
}

void keep_param(
    Tile tile_2,
    uint k_1,
    metal::float4 p,
    device type_6& params,
    constant _mslBufferSizes& _buffer_sizes
) {
    params[tile_2.param + k_1] = p;
    return;
}

void set_copy(
    Tile tile_3,
    uint k_2,
    metal::float4 p_1
) {
    return;
}

void set_param(
    Tile tile_4,
    uint k_3,
    metal::float4 p_2,
    device type_6& params,
    constant _mslBufferSizes& _buffer_sizes
) {
    keep_param(tile_4, k_3, p_2, params, _buffer_sizes);
    set_copy(tile_4, k_3, p_2);
    return;
}

metal::uint4 grad_bits(
    Tile tile_5,
    uint k_4,
    device type_8 const& grads,
    constant _mslBufferSizes& _buffer_sizes
) {
    metal::uint4 _e6 = grads[tile_5.grad + k_4];
    return _e6;
}

metal::float4 grad_at(
    Tile tile_6,
    uint k_5,
    device type_8 const& grads,
    constant _mslBufferSizes& _buffer_sizes
) {
    metal::uint4 _e2 = grad_bits(tile_6, k_5, grads, _buffer_sizes);
    return as_type<metal::float4>(_e2);
}

struct averageInput {
};
[[max_total_threads_per_threadgroup(256)]] kernel void average(
  metal::uint3 group [[threadgroup_position_in_grid]]
, metal::uint3 grid [[threadgroups_per_grid]]
, uint lane [[thread_index_in_threadgroup]]
, device type_1 const& tiles [[user(fake0)]]
, device float const& share [[user(fake0)]]
, device type_6& averages [[user(fake0)]]
, device type_6 const& params [[user(fake0)]]
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
    metal::float4 _e22 = param_at(_e3, lane, params, _buffer_sizes);
    metal::float4 _e25 = averages[i];
    averages[i] = _e19 + (_e21 * (_e22 - _e25));
    return;
}
