// language: metal2.4
#include <metal_stdlib>
#include <simd/simd.h>

using metal::uint;

struct _mslBufferSizes {
    uint size0;
    uint size1;
    uint size2;
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
typedef metal::float4 type_5[1];
typedef metal::uint4 type_7[1];
constant uint WIDTH = 256u;

uint unfold(
    metal::uint3 group_2,
    metal::uint3 grid_2
) {
    return (group_2.y * grid_2.x) + group_2.x;
}

Tile tile_of(
    metal::uint3 group_3,
    metal::uint3 grid_3,
    device type_1 const& tiles,
    constant _mslBufferSizes& _buffer_sizes
) {
    uint _e2 = unfold(group_3, grid_3);
    if (_e2 >= (1 + (_buffer_sizes.size0 - 0 - 28) / 28)) {
        return Tile {};
    }
    Tile _e9 = tiles[_e2];
    return _e9;
}

bool inside(
    Tile tile,
    uint lane_2
) {
    return (lane_2 * 4u) < tile.length;
}

void keep_param(
    Tile tile_1,
    uint k,
    metal::float4 p,
    device type_5& params,
    constant _mslBufferSizes& _buffer_sizes
) {
    params[tile_1.param + k] = p;
    return;
}

metal::uint4 grad_bits(
    Tile tile_2,
    uint k_1,
    device type_7 const& grads,
    constant _mslBufferSizes& _buffer_sizes
) {
    metal::uint4 _e6 = grads[tile_2.grad + k_1];
    return _e6;
}

metal::float4 grad_at(
    Tile tile_3,
    uint k_2,
    device type_7 const& grads,
    constant _mslBufferSizes& _buffer_sizes
) {
    metal::uint4 _e2 = grad_bits(tile_3, k_2, grads, _buffer_sizes);
    return as_type<metal::float4>(_e2);
}

void set_copy(
    Tile tile_4,
    uint k_3,
    metal::float4 p_1
) {
    return;
}

metal::float4 param_at(
    Tile tile_5,
    uint k_4,
    device type_5 const& params,
    constant _mslBufferSizes& _buffer_sizes
) {
    metal::float4 _e6 = params[tile_5.param + k_4];
    return _e6;
}

void set_param(
    Tile tile_6,
    uint k_5,
    metal::float4 p_2,
    device type_5& params,
    constant _mslBufferSizes& _buffer_sizes
) {
    keep_param(tile_6, k_5, p_2, params, _buffer_sizes);
    set_copy(tile_6, k_5, p_2);
    return;
}

struct from_halvesInput {
};
[[max_total_threads_per_threadgroup(256)]] kernel void from_halves(
  metal::uint3 group [[threadgroup_position_in_grid]]
, metal::uint3 grid [[threadgroups_per_grid]]
, uint lane [[thread_index_in_threadgroup]]
, device type_1 const& tiles [[user(fake0)]]
, device type_5& params [[user(fake0)]]
, device type_7 const& grads [[user(fake0)]]
, constant _mslBufferSizes& _buffer_sizes [[user(fake0)]]
) {
    Tile _e3 = tile_of(group, grid, tiles, _buffer_sizes);
    bool _e4 = inside(_e3, lane);
    if (_e4) {
        metal::float4 _e5 = grad_at(_e3, lane, grads, _buffer_sizes);
        keep_param(_e3, lane, _e5, params, _buffer_sizes);
        return;
    } else {
        return;
    }
}


struct to_halvesInput {
};
[[max_total_threads_per_threadgroup(256)]] kernel void to_halves(
  metal::uint3 group_1 [[threadgroup_position_in_grid]]
, metal::uint3 grid_1 [[threadgroups_per_grid]]
, uint lane_1 [[thread_index_in_threadgroup]]
, device type_1 const& tiles [[user(fake0)]]
, device type_5 const& params [[user(fake0)]]
, constant _mslBufferSizes& _buffer_sizes [[user(fake0)]]
) {
    Tile _e3 = tile_of(group_1, grid_1, tiles, _buffer_sizes);
    bool _e4 = inside(_e3, lane_1);
    if (_e4) {
        metal::float4 _e5 = param_at(_e3, lane_1, params, _buffer_sizes);
        set_copy(_e3, lane_1, _e5);
        return;
    } else {
        return;
    }
}
