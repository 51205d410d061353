// language: metal2.4
#include <metal_stdlib>
#include <simd/simd.h>

using metal::uint;

struct _mslBufferSizes {
    uint size0;
    uint size1;
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
struct Pace {
    uint live;
    uint first;
    float factor;
    float unit;
    float limit;
    float lr;
    float correction;
    float root_scale;
};
struct Hyper {
    Pace pace;
    float eps;
    float weight_decay;
};
typedef Hyper type_6[1];
typedef metal::float4 type_7[1];
typedef metal::uint4 type_9[1];
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

metal::float4 paced(
    Pace pace,
    metal::float4 grad
) {
    metal::float4 g = pace.factor * (pace.unit * grad);
    metal::bool4 over = metal::bool4(pace.limit > 0.0) & (metal::abs(g) > metal::float4(pace.limit));
    return metal::select(g, metal::sign(g) * pace.limit, over);
}

metal::float4 param_at(
    Tile tile_1,
    uint k,
    device type_7 const& params,
    constant _mslBufferSizes& _buffer_sizes
) {
    metal::float4 _e6 = params[tile_1.param + k];
    return _e6;
}

metal::uint4 grad_bits(
    Tile tile_2,
    uint k_1,
    device type_9 const& grads,
    constant _mslBufferSizes& _buffer_sizes
) {
    metal::uint4 _e6 = grads[tile_2.grad + k_1];
    return _e6;
}

metal::float4 grad_at(
    Tile tile_3,
    uint k_2,
    device type_9 const& grads,
    constant _mslBufferSizes& _buffer_sizes
) {
    metal::uint4 _e2 = grad_bits(tile_3, k_2, grads, _buffer_sizes);
    return as_type<metal::float4>(_e2);
}

void keep_param(
    Tile tile_4,
    uint k_3,
    metal::float4 p,
    device type_7& params,
    constant _mslBufferSizes& _buffer_sizes
) {
    params[tile_4.param + k_3] = p;
    return;
}

void set_copy(
    Tile tile_5,
    uint k_4,
    metal::float4 p_1
) {
    return;
}

void set_param(
    Tile tile_6,
    uint k_5,
    metal::float4 p_2,
    device type_7& params,
    constant _mslBufferSizes& _buffer_sizes
) {
    keep_param(tile_6, k_5, p_2, params, _buffer_sizes);
    set_copy(tile_6, k_5, p_2);
    return;
}

struct plainInput {
};
[[max_total_threads_per_threadgroup(256)]] kernel void plain(
  metal::uint3 group [[threadgroup_position_in_grid]]
, metal::uint3 grid [[threadgroups_per_grid]]
, uint lane [[thread_index_in_threadgroup]]
, device type_1 const& tiles [[user(fake0)]]
, device type_6 const& hypers [[user(fake0)]]
, device type_7& sum [[user(fake0)]]
, device type_7& params [[user(fake0)]]
, device type_9 const& grads [[user(fake0)]]
, constant _mslBufferSizes& _buffer_sizes [[user(fake0)]]
) {
    bool local = {};
    Tile _e3 = tile_of(group, grid, tiles, _buffer_sizes);
    Hyper h = hypers[_e3.segment];
    if (!((h.pace.live == 0u))) {
        bool _e15 = inside(_e3, lane);
        local = !(_e15);
    } else {
        local = true;
    }
    bool _e18 = local;
    if (_e18) {
        return;
    }
    uint i = _e3.first + lane;
    metal::float4 _e21 = param_at(_e3, lane, params, _buffer_sizes);
    metal::float4 _e23 = grad_at(_e3, lane, grads, _buffer_sizes);
    metal::float4 _e24 = paced(h.pace, _e23);
    metal::float4 g_1 = _e24 + (h.weight_decay * _e21);
    metal::float4 _e30 = sum[i];
    metal::float4 s = _e30 + (g_1 * g_1);
    sum[i] = s;
    set_param(_e3, lane, _e21 - (h.pace.lr * (g_1 / (metal::sqrt(s) + metal::float4(h.eps)))), params, _buffer_sizes);
    return;
}
